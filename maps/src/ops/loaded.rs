//! The one way in which ops hold a CPU or a GPU.

/// What an op keeps on the device that it was loaded on, the device among it. Ops that keep nothing
/// ask their matrices.
#[derive(Debug)]
pub(crate) enum Loaded<C, G> {
    Cpu(C),
    Gpu(G),
}
