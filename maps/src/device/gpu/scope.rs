//! What a driver says of one piece of work, asked for on the spot.

/// Does `work` and returns the first of its errors of these kinds, the last kind first.
///
/// In a browser none: it hears of them later, and then they are faults of the device.
pub(super) fn caught<T>(
    device: &wgpu::Device,
    kinds: &[wgpu::ErrorFilter],
    work: impl FnOnce() -> T,
) -> (T, Option<wgpu::Error>) {
    if cfg!(target_family = "wasm") {
        return (work(), None);
    }
    let scopes = kinds.iter().map(|&kind| device.push_error_scope(kind));
    let scopes: Vec<_> = scopes.collect();
    let made = work();
    let mut first = None;
    // The last one pushed has to go first.
    for scope in scopes.into_iter().rev() {
        let error = pollster::block_on(scope.pop());
        first = first.or(error);
    }
    (made, first)
}
