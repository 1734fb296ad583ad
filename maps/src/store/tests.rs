use super::*;
use ndarray::array;

/// A reader asks for what it relies on; anything else is refused by the name of the array.
#[test]
fn arrays_of_another_shape_or_type_are_refused_by_name() {
    let mut store = Store::default();
    store.put_vector("mean", &[1.0, 2.0]);
    store.put_f32("w", array![[1.0, 2.0]].view());
    store.put_u32("bins", array![[1, 2]].view());
    assert_eq!(store.vector("mean", 2).expect("fits"), array![1.0, 2.0]);
    let says = |result: Result<()>, name: &str| {
        let message = result.expect_err("refused").to_string();
        assert!(message.contains(&format!("{name:?}")), "{message}");
    };
    for len in [0, 1, 3] {
        says(store.vector("mean", len).map(|_| ()), "mean");
    }
    says(store.f32("mean").map(|_| ()), "mean");
    says(store.f64("w").map(|_| ()), "w");
    says(store.u32("w").map(|_| ()), "w");
    says(store.f32("bins").map(|_| ()), "bins");
    says(store.f32("nothing").map(|_| ()), "nothing");
    for bad in [f32::NAN, f32::INFINITY] {
        store.put_f32("w", array![[1.0, bad]].view());
        says(store.f32("w").map(|_| ()), "w");
    }
    store.put_vector("mean", &[1.0, f64::NAN]);
    says(store.vector("mean", 2).map(|_| ()), "mean");
}
