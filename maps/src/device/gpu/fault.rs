//! What a driver reports outside the call that caused it. A lost device stays lost; any other fault
//! is reported once.

use super::lock;
use crate::text::one_line;
use crate::{Error, Result};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, OnceLock},
};

#[derive(Default)]
pub(super) struct Faults {
    /// The first fault since the last check.
    first: Mutex<Option<Error>>,
    /// Why the device was lost.
    lost: OnceLock<String>,
}

impl Faults {
    /// Listens to what `device` reports.
    pub(super) fn listen(device: &wgpu::Device) -> Arc<Self> {
        let faults = Arc::new(Self::default());
        let sink = faults.clone();
        device.on_uncaptured_error(Arc::new(move |e| {
            // Memory that the library asks for is asked for under a scope of its own: this is the
            // driver's, and nobody knows which of the recorded work went without it. So it is no
            // `OutOfMemory`, after which work is repeated.
            let text = match e {
                wgpu::Error::OutOfMemory { source } => {
                    format!(
                        "the driver ran out of memory: {}",
                        one_line(&source.to_string())
                    )
                }
                other => one_line(&other.to_string()),
            };
            lock(&sink.first).get_or_insert(Error::device(text));
        }));
        let sink = faults.clone();
        device.set_device_lost_callback(move |reason, message| {
            let text = match reason {
                wgpu::DeviceLostReason::Destroyed => "it was closed".into(),
                wgpu::DeviceLostReason::Unknown => one_line(&message),
            };
            // Only the first reason counts.
            let _ = sink.lost.set(text);
        });
        faults
    }

    /// The fault that was reported since the last check, which is then told.
    pub(super) fn take(&self) -> Option<Error> {
        lock(&self.first).take()
    }

    /// Errors with [`Error::DeviceLost`] for ever after the device was lost, and with any other
    /// fault once.
    pub(super) fn check(&self) -> Result<()> {
        self.alive()?;
        self.take().map_or(Ok(()), Err)
    }

    /// Errors with [`Error::DeviceLost`] after the device was lost.
    pub(super) fn alive(&self) -> Result<()> {
        match self.lost.get() {
            None => Ok(()),
            Some(reason) => Err(lost(reason)),
        }
    }

    /// The fault behind a call that failed; without one, only a lost device explains `message`.
    pub(super) fn behind(&self, message: &str) -> Error {
        match self.check() {
            Err(fault) => fault,
            Ok(()) => {
                let _ = self.lost.set(one_line(message));
                self.alive().err().unwrap_or_else(|| lost(message))
            }
        }
    }

    /// Waits as `how` says. A device that is lost while it is waited for is a panic in wgpu, and an
    /// error here.
    pub(super) fn poll(&self, device: &wgpu::Device, how: wgpu::PollType) -> Result<()> {
        // wgpu holds no lock of its own when it panics: the call into its core has returned.
        let polled = catch_unwind(AssertUnwindSafe(|| device.poll(how)));
        if let Ok(Err(_)) = &polled {
            // A submission that a lost device did not take cannot be waited for. The rest can, and
            // then the reason is heard.
            let rest = AssertUnwindSafe(|| device.poll(wgpu::PollType::wait_indefinitely()));
            let _ = catch_unwind(rest);
        }
        self.polled(polled.map(|result| result.map(|_| ())))
    }

    fn polled(
        &self,
        result: std::thread::Result<std::result::Result<(), wgpu::PollError>>,
    ) -> Result<()> {
        match result {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => Err(self.behind(&e.to_string())),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(|text| one_line(text));
                let text = text.unwrap_or_else(|| "waiting for it failed".into());
                let _ = self.lost.set(text);
                self.alive()
            }
        }
    }
}

fn lost(reason: &str) -> Error {
    Error::DeviceLost {
        reason: reason.to_owned(),
        rows_kept: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Matrix, ops::gram::GramAccumulator};

    #[test]
    fn a_fault_is_reported_once_and_a_loss_for_ever() {
        let faults = Faults::default();
        *lock(&faults.first) = Some(Error::device("first"));
        assert_eq!(faults.check().unwrap_err().to_string(), "first");
        faults.check().unwrap();
        faults.alive().unwrap();
        faults.lost.set("pulled out".into()).unwrap();
        *lock(&faults.first) = Some(Error::device("second"));
        for _ in 0..2 {
            let error = faults.check().unwrap_err();
            assert!(matches!(error, Error::DeviceLost { rows_kept: 0, .. }));
            assert!(error.to_string().contains("pulled out"), "{error}");
        }
    }

    /// A driver says that its device is lost when what it was given has ended; calls fail before.
    #[test]
    fn a_fault_of_a_device_lost_in_the_middle_of_work_is_the_loss_on_devices() {
        for device in crate::under_test::gpus() {
            let z_nd = Matrix::new(&device, 8192, 64).expect("fits");
            let y_nt = Matrix::new(&device, 8192, 1).expect("fits");
            let mut sums = GramAccumulator::new(&device, 64, 1).expect("fits");
            for _ in 0..8 {
                sums.add(&z_nd, &y_nt).expect("is recorded");
            }
            let gpu = device.gpu().expect("a GPU");
            gpu.flush();
            gpu.lose();
            *lock(&gpu.0.faults.first) = Some(Error::device("a bind group is invalid"));
            let error = gpu.check().expect_err("lost");
            assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
        }
    }

    #[test]
    fn a_panic_while_waiting_is_a_lost_device() {
        let faults = Faults::default();
        let panic: Box<dyn std::any::Any + Send> =
            Box::new("Error in Device::poll:\n  gone".to_owned());
        let error = faults.polled(Err(panic)).unwrap_err();
        assert!(matches!(error, Error::DeviceLost { .. }));
        assert!(error.to_string().contains("Device::poll: gone"), "{error}");
        faults.alive().unwrap_err();
        faults.polled(Ok(Ok(()))).unwrap();
    }
}
