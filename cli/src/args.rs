//! Options that several commands share: data, run.

mod data;
mod run;
mod values;

pub(crate) use self::{
    data::{DataArgs, describe_gaps},
    run::{DeviceArgs, RunArgs},
    values::{at_least_one, delimiter, format, fraction, positive, share, whole},
};
