//! Where values of an axis lie, and which of them are written beside it.

/// An axis: what runs along it, in which unit, and how.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// What it is, with its unit where it has one.
    pub(crate) name: String,
    pub(crate) log: bool,
    /// From where to where, instead of what the values need.
    pub(crate) range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis of what has this unit; a number or a share has none.
    pub(crate) fn linear(name: &str, unit: &str) -> Self {
        let name = match unit {
            "" => name.to_owned(),
            unit => format!("{name} ({unit})"),
        };
        Self {
            name,
            log: false,
            range: None,
        }
    }

    /// A logarithmic axis, as [`Self::linear`].
    pub(crate) fn log(name: &str, unit: &str) -> Self {
        Self {
            log: true,
            ..Self::linear(name, unit)
        }
    }

    /// An axis of these values: logarithmic where all are positive and the largest is more than a
    /// thousand times the smallest, so that the small ones do not lie on one line.
    pub(crate) fn over(name: &str, unit: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|v| v.is_finite());
        let (least, most) = finite.fold((f64::INFINITY, 0.0_f64), |(least, most), v| {
            (least.min(v), most.max(v))
        });
        if least > 0.0 && most > 1000.0 * least {
            return Self::log(name, unit);
        }
        Self::linear(name, unit)
    }

    /// From where to where it runs; what lies outside is not drawn.
    pub(crate) fn range(mut self, from: f64, to: f64) -> Self {
        self.range = Some((from, to));
        self
    }
}

/// Where values of an axis lie.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    /// The axis over these values with a little room. None if there are none, or none that a
    /// logarithm takes.
    pub(super) fn from_values(axis: &Axis, values: impl Iterator<Item = f64>) -> Option<Self> {
        let log = axis.log;
        let fits = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let along = |v: f64| if log { v.log10() } else { v };
        if let Some((from, to)) = axis.range {
            let (from, to) = (along(from), along(to));
            return Some(Self { from, to, log });
        }
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.filter(fits) {
            (from, to) = (from.min(along(v)), to.max(along(v)));
        }
        if from > to {
            return None;
        }
        let room = match to - from {
            0.0 if log => 0.5,
            0.0 => from.abs().max(1.0) * 0.1,
            range => 0.05 * range,
        };
        (from, to) = (from - room, to + room);
        Some(Self { from, to, log })
    }

    /// From 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        (value - self.from) / (self.to - self.from)
    }

    pub(super) fn holds(&self, value: f64) -> bool {
        // What a range ends with is inside in spite of rounding.
        let inside = -1e-9..=1.0 + 1e-9;
        value.is_finite() && (!self.log || value > 0.0) && inside.contains(&self.share(value))
    }

    /// Where it begins.
    pub(super) fn least(&self) -> f64 {
        if self.log {
            10f64.powf(self.from)
        } else {
            self.from
        }
    }

    /// Round values of the axis, of which as many are wanted at most.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        if self.log {
            let range = self.to - self.from;
            let of: &[f64] = match range {
                r if r < 0.5 => &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
                r if r < 1.0 => &[1.0, 2.0, 3.0, 5.0, 7.0],
                r if r < 2.5 => &[1.0, 2.0, 5.0],
                _ => &[1.0],
            };
            let skip = (range / most as f64).ceil().max(1.0) as usize;
            let decades = self.from.floor() as i32..=self.to.ceil() as i32;
            return decades
                .step_by(skip)
                .flat_map(|decade| of.iter().map(move |m| m * 10f64.powi(decade)))
                .filter(|&v| self.holds(v))
                .collect();
        }
        let rough = (self.to - self.from) / most.saturating_sub(2).max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|m| m * power)
            .find(|&step| step >= rough)
            .unwrap_or(rough);
        let first = (self.from / step - 1e-9).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|i| i as f64 * step).collect()
    }
}

/// Ticks in words that tell them apart: with more digits where four behind the point do not.
pub(super) fn tick_texts(ticks: &[f64]) -> Vec<String> {
    let usual: Vec<String> = ticks.iter().map(|&tick| tick_text(tick)).collect();
    let differ = |texts: &[String]| texts.windows(2).all(|pair| pair[0] != pair[1]);
    let longer = || {
        (5..=15).find_map(|digits| {
            let texts = ticks.iter().map(|tick| format!("{tick:.digits$}"));
            Some(texts.collect::<Vec<_>>()).filter(|texts| differ(texts))
        })
    };
    if differ(&usual) {
        return usual;
    }
    longer().unwrap_or(usual)
}

/// `0.02`, `10⁻⁷`, `2,000`.
fn tick_text(value: f64) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".into(),
        1000.0..1e5 if value.fract() == 0.0 => {
            let whole = value as i64;
            format!("{},{:03}", whole / 1000, (whole % 1000).abs())
        }
        1e-3..1e5 => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => {
            let text = format!("{value:e}");
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            let raised: String = power.chars().map(raised).collect();
            match digits {
                "1" => format!("10{raised}"),
                digits => format!("{digits}×10{raised}"),
            }
        }
    }
}

/// A digit or a sign above the line.
fn raised(c: char) -> char {
    match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => c
            .to_digit(10)
            .and_then(|d| char::from_u32(0x2070 + d))
            .unwrap_or(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(values: &[f64], log: bool) -> Scale {
        let axis = if log {
            Axis::log("a", "")
        } else {
            Axis::linear("a", "")
        };
        Scale::from_values(&axis, values.iter().copied()).unwrap()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let ticks = over(&[0.13, 0.29], false).ticks(7);
        assert_eq!(ticks.len(), 3, "{ticks:?}");
        assert!(
            ticks
                .iter()
                .all(|t| (t / 0.05).fract().min(1.0 - (t / 0.05).fract()) < 1e-9)
        );
        let ticks = over(&[100.0, 3000.0], true).ticks(7);
        assert_eq!(ticks, [100.0, 200.0, 500.0, 1000.0, 2000.0]);
        let ticks = over(&[1e-9, 1e-1], true).ticks(7);
        assert!((4..=9).contains(&ticks.len()), "{ticks:?}");
        let whole = Scale::from_values(&Axis::linear("a", "").range(0.0, 1.0), std::iter::empty());
        assert_eq!(
            whole.unwrap().ticks(7),
            [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
        );
    }

    #[test]
    fn axes_of_many_decades_are_logarithmic() {
        let is_log = |values: [f64; 3]| Axis::over("a", "", values).log;
        assert!(is_log([0.001, f64::NAN, 1.1]));
        assert!(
            !is_log([0.001, 0.5, 1.0]) && !is_log([0.0, 1.0, 1e9]) && !is_log([-1.0, 1.0, 1e9])
        );
    }

    #[test]
    fn ticks_of_a_narrow_range_are_told_apart() {
        let texts = tick_texts(&[0.010_81, 0.010_812, 0.010_814]);
        assert_eq!(texts, ["0.010810", "0.010812", "0.010814"]);
        assert_eq!(tick_texts(&[0.5, 1.0]), ["0.5", "1"]);
    }

    #[test]
    fn numbers_beside_an_axis() {
        for (value, text) in [
            (0.0, "0"),
            (0.02, "0.02"),
            (-0.5, "-0.5"),
            (20_000.0, "20,000"),
            (1e5, "10⁵"),
            (2e-7, "2×10⁻⁷"),
            (1e-10, "10⁻¹⁰"),
        ] {
            assert_eq!(tick_text(value), text);
        }
    }
}
