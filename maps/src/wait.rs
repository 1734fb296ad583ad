//! Waiting for a device, at the door of what may be waited for. In a browser nobody waits on the
//! spot: there a page's own loop takes up what is not there yet.

use crate::Result;
use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

/// The outcome of `future`. What is there at once takes no more than a look: the CPU's work, and
/// that of a GPU which was polled.
///
/// In a browser, an error with [`crate::Error::Unsupported`] for what is not there at once.
pub fn wait<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => pending(future),
    }
}

#[cfg(not(target_family = "wasm"))]
fn pending<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    pollster::block_on(future)
}

#[cfg(target_family = "wasm")]
fn pending<T>(_: impl Future<Output = Result<T>>) -> Result<T> {
    let problem = "a browser cannot wait for its GPU in the middle of this work";
    Err(crate::Error::unsupported(problem).help(crate::error::Remedy::UseCpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn what_is_there_and_what_comes_later_are_both_heard() {
        assert_eq!(wait(async { Ok(3) }).expect("there"), 3);
        let (sender, receiver) = futures_intrusive::channel::shared::oneshot_channel();
        let later = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            sender.send(4).ok();
        });
        let waited = wait(async { receiver.receive().await.ok_or(Error::device("dropped")) });
        assert_eq!(waited.expect("comes"), 4);
        later.join().expect("sent it");
        wait(async { Err::<(), _>(Error::device("no")) }).expect_err("as it is");
    }
}
