//! A model's own task: it holds the model on its device and answers one question after the other,
//! so that questions may come while another is on its way.

use bochner::{
    Device, Error, Result,
    data::Rows,
    features::Transformer,
    models::{LinearModel, Predictor},
};
use futures_intrusive::channel::shared::{
    OneshotSender, Receiver, Sender, channel, oneshot_channel,
};
use ndarray::Array2;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;

/// What is asked, and who hears the answer.
pub(crate) enum Ask {
    /// Raw outputs `[n, t]`.
    Scores(Rows, OneshotSender<Result<Array2<f64>>>),
    /// Features `[n, D]`.
    Features(Rows, OneshotSender<Result<Array2<f32>>>),
}

/// Questions that wait for their turn; who asks more waits to ask.
const WAITING: usize = 64;

/// Loads a model on a device. The task ends, and gives the memory back, when the sender is dropped.
pub(crate) async fn start(model: Rc<LinearModel>, device: Device) -> Result<Sender<Ask>> {
    let (asks, asked) = channel(WAITING);
    let (loaded, ready) = oneshot_channel();
    spawn_local(async move {
        match model.on(&device) {
            Ok(predictor) => {
                loaded.send(Ok(())).ok();
                serve(predictor, &model, &device, asked).await;
            }
            Err(error) => {
                loaded.send(Err(error)).ok();
            }
        }
    });
    ready.receive().await.unwrap_or_else(|| Err(ended()))?;
    Ok(asks)
}

/// One question and its answer.
pub(crate) async fn ask<T: Send + 'static>(
    asks: &Sender<Ask>,
    rows: Rows,
    of: impl FnOnce(Rows, OneshotSender<Result<T>>) -> Ask,
) -> Result<T> {
    let (answer, heard) = oneshot_channel();
    asks.send(of(rows, answer)).await.map_err(|_| ended())?;
    heard.receive().await.unwrap_or_else(|| Err(ended()))
}

async fn serve(
    mut predictor: Predictor<'_>,
    model: &LinearModel,
    device: &Device,
    asked: Receiver<Ask>,
) {
    let mut transformer = None;
    while let Some(ask) = asked.receive().await {
        match ask {
            Ask::Scores(rows, answer) => {
                answer.send(predictor.scores_later(&rows).await).ok();
            }
            Ask::Features(rows, answer) => {
                let z = features(&mut transformer, model, device, &rows).await;
                answer.send(z).ok();
            }
        }
    }
}

async fn features<'m>(
    kept: &mut Option<Transformer<'m>>,
    model: &'m LinearModel,
    device: &Device,
    rows: &Rows,
) -> Result<Array2<f32>> {
    let transformer = match kept {
        Some(transformer) => transformer,
        none => none.insert(Transformer::new(model.map.as_ref(), device)?),
    };
    let mut z_nd = Array2::zeros((rows.nrows(), model.map.output_dim()));
    transformer.rows_later(rows, z_nd.view_mut()).await?;
    Ok(z_nd)
}

fn ended() -> Error {
    Error::device("the model was freed while it was asked; load it anew")
}
