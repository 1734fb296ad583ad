//! Rows times the frequencies of a dense map on the CPU, by the unit that suits the machine.

#[cfg(target_arch = "x86_64")]
use crate::simd::{Bf16Panels, HalfPanels};
use crate::simd::{Epilogue, Panels, PanelsView, Parts, for_each_row};

/// Frequencies in every form that products take.
#[derive(Debug)]
pub(super) struct Products {
    panels: Panels,
    /// The same in 16 bits, for a row or two, where that is exact.
    #[cfg(target_arch = "x86_64")]
    half: Option<HalfPanels>,
    /// The same for a matrix unit, which then takes all rows.
    #[cfg(target_arch = "x86_64")]
    pieces: Option<Bf16Panels>,
}

impl Products {
    pub(super) fn new(panels: Panels) -> Self {
        #[cfg(target_arch = "x86_64")]
        let pieces = Bf16Panels::from_panels(&panels);
        Self {
            #[cfg(target_arch = "x86_64")]
            half: match pieces {
                Some(_) => None,
                None => HalfPanels::from_panels(&panels),
            },
            #[cfg(target_arch = "x86_64")]
            pieces,
            panels,
        }
    }

    pub(super) fn panels(&self) -> &Panels {
        &self.panels
    }

    /// All frequencies.
    pub(super) fn all(&self) -> PanelsView<'_> {
        self.panels.all()
    }

    /// Hands the products of `x` with some of the frequencies to `epilogue`, on this thread.
    pub(super) fn project(&self, x: &[f32], parts: Parts<'_, '_>, epilogue: impl Epilogue) {
        #[cfg(target_arch = "x86_64")]
        if let Some(pieces) = &self.pieces {
            return pieces.for_each_row(x, parts, epilogue);
        }
        #[cfg(target_arch = "x86_64")]
        // A row or two read every frequency once and are bound by memory: half the bytes, half the
        // time. Frequencies on 11 bits are exact in 16.
        if let (1 | 2, Some(half)) = (x.len() / self.all().depth(), &self.half) {
            return half.for_each_row(x, parts, epilogue);
        }
        for_each_row(x, parts, epilogue);
    }

    /// The frequencies that are multiplied with at once: parts are whole numbers of these.
    pub(super) fn abreast(&self) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.pieces.is_some() {
            return Bf16Panels::ABREAST_COLUMNS;
        }
        PanelsView::abreast_columns()
    }
}
