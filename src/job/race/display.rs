//! Text form of the choice of preparation and bandwidth.

use super::{ROWS, Race};
use crate::{
    features::{Bandwidth, Standardize},
    job::TargetScale,
};
use std::fmt;

/// `on 512 rows: standardised, sigma 0.85 (0.5 medians); leave-one-out R2 0.930; gamma by scale
/// 0.460`; with more rows `R2 of a quarter held out`, with groups `by groups`.
impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (chosen, usual) = (self.chosen(), self.usual());
        write!(f, "on {} rows: ", self.rows)?;
        match chosen.multiple {
            None => f.write_str(match chosen.standardize {
                Standardize::Yes => "standardised, gamma by scale",
                _ => "gamma by scale",
            })?,
            Some(multiple) => {
                let columns = match chosen.standardize {
                    Standardize::Yes => "standardised",
                    Standardize::Range => "columns over their ranges",
                    Standardize::Robust => "columns clipped",
                    Standardize::Rank => "columns by ranks",
                    _ => "columns as they are",
                };
                match chosen.bandwidth {
                    Bandwidth::SigmaPerColumn(_) => {
                        f.write_str("columns weighed by what they tell")?
                    }
                    _ => write!(f, "{columns}, {}", chosen.bandwidth)?,
                }
                write!(f, " ({multiple} medians)")?;
                if chosen.linear {
                    f.write_str(", with a linear part")?;
                }
            }
        }
        let of = match (self.by_groups, self.rows > ROWS) {
            (false, true) => "R2 of a quarter held out",
            (false, false) => "leave-one-out R2",
            (true, true) => "by groups, R2 of a quarter held out",
            (true, false) => "by groups, R2 of a fifth held out in turn",
        };
        let other = match self.scales.first() {
            Some(&(TargetScale::Log, error)) => Some(("logarithms", error)),
            Some(&(TargetScale::Rank, error)) => Some(("ranks", error)),
            _ => None,
        };
        if let Some((scale, error)) = other {
            return write!(f, ", targets by their {scale}; {of} {:.3}", 1.0 - error);
        }
        write!(f, "; {of} {:.3}", 1.0 - chosen.error)?;
        match self.chosen {
            0 => Ok(()),
            _ => write!(f, "; gamma by scale {:.3}", 1.0 - usual.error),
        }
    }
}
