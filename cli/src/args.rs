//! Options that several commands share: data, run.

mod data;
mod layout;
mod run;
mod values;

pub(crate) use self::{
    data::{DataArgs, describe_gaps},
    layout::LayoutArgs,
    run::{DeviceArgs, RunArgs},
    values::{at_least_one, format, fraction, half_life, named, positive, share, whole},
};
