//! Tests of what happens when a device is lost, on every adapter: of matrices and of tuning. Those
//! of work on rows are in src/faults.rs of the package above.

use crate::{
    Error, Matrix,
    form::{Class, Contest},
    ops::projection,
    under_test::gpus,
};
use ndarray::Array2;

fn is_lost(error: &Error) {
    assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
}

#[test]
fn what_was_on_a_lost_device_cannot_be_read() {
    for device in gpus() {
        let gpu = device.gpu().expect("a GPU");
        let host = Array2::from_shape_fn((100, 3), |(i, j)| (i * 3 + j) as f32);
        let mut matrix = Matrix::upload(&device, host.view()).expect("fits");
        assert_eq!(matrix.download().expect("reads back"), host);
        let reading = matrix.read_later().expect("is submitted");
        let reading = reading.expect("a GPU's");
        gpu.lose();
        // A copy that was submitted in time may arrive all the same.
        if let Ok(same) = reading.wait() {
            assert!(same.view() == host);
        }
        is_lost(&matrix.download().expect_err("lost"));
        is_lost(&matrix.write(host.view()).expect_err("lost"));
        is_lost(&matrix.read_later().expect_err("lost"));
    }
}

#[test]
fn tuning_says_that_the_device_is_lost() {
    for device in gpus() {
        let gpu = device.gpu().expect("a GPU");
        let (menu, class) = (&projection::MENU, Class::ALL[0]);
        // What the user's cache has.
        let before = menu.chosen(gpu, class);
        gpu.lose();
        let error = menu.tune(gpu, class).expect_err("the device is lost");
        is_lost(&error);
        assert_eq!(menu.chosen(gpu, class), before);
    }
}
