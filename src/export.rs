//! Fitted models for other runtimes.

pub mod onnx;
