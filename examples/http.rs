//! One row at a time behind an HTTP server: `cargo run --release --example http`.
//!
//! It fits a model, serves it on a free port of this machine, asks it itself, and says how long an
//! answer took. With a model and an address it serves until it is stopped:
//!
//! ```sh
//! cargo run --release --example http -- price.model 127.0.0.1:8080
//! curl -d '[0.1, 0.7, 0.3]' http://127.0.0.1:8080/predict
//! ```
//!
//! A model that is loaded once keeps its parameters and buffers on the device. Every thread here
//! has one of its own, so that none waits for another's row.

use bochner::{
    models::{Label, LinearModel, Predictor},
    prelude::*,
};
use ndarray::Array2;
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tiny_http::{Method, Request, Response, Server};

/// Bytes of a request's body at most.
const MOST: u64 = 1 << 20;
const THREADS: usize = 2;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [path, address] = arguments.as_slice() {
        let server = Arc::new(listen(address)?);
        println!("http://{}/predict", address_of(&server)?);
        return serve(&server, &LinearModel::load(path)?);
    }
    let x = Array2::from_shape_fn((500, 8), |(i, j)| ((i * (j + 11)) % 97) as f32 / 97.0);
    let y: Vec<f32> = x.rows().into_iter().map(|x| x[0] + x[5]).collect();
    let model = Ridge::on(Fourier::new(Gaussian).features(512)).fit((&x, &y))?;

    let server = Arc::new(listen("127.0.0.1:0")?);
    let address = address_of(&server)?;
    thread::scope(|scope| {
        let serving = scope.spawn(|| serve(&server, model.linear()));
        let asked = ask_all(address, &x, &y);
        // Every thread hears of the end.
        (0..THREADS).for_each(|_| server.unblock());
        let served = serving.join().expect("no thread panics");
        asked.and(served)
    })
}

fn listen(address: &str) -> Result<Server> {
    Server::http(address).map_err(|e| Error::io(address, std::io::Error::other(e)))
}

fn address_of(server: &Server) -> Result<SocketAddr> {
    let address = server.server_addr().to_ip();
    address.ok_or_else(|| Error::missing("the server listens on no address of IP"))
}

/// Answers requests in several threads until the server is told to end.
fn serve(server: &Server, model: &LinearModel) -> Result<()> {
    let device = Device::best()?;
    thread::scope(|scope| {
        let work = || -> Result<()> {
            let mut predictor = model.on(&device)?;
            while let Ok(mut request) = server.recv() {
                let (status, text) = match answer(&mut request, &mut predictor) {
                    Ok(predictions) => (200, predictions),
                    Err(error) => (400, format!("{error}\n")),
                };
                // A client that has gone needs no answer.
                let _ = request.respond(Response::from_string(text).with_status_code(status));
            }
            Ok(())
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let ends = threads.into_iter().map(|t| t.join().expect("no panic"));
        ends.collect()
    })
}

/// A row in JSON, such as `[0.5, 1]`, becomes its predictions.
fn answer(request: &mut Request, predictor: &mut Predictor<'_>) -> Result<String> {
    if (request.method(), request.url()) != (&Method::Post, "/predict") {
        return Err(Error::missing("POST a row such as [0.5, 1] to /predict"));
    }
    let mut body = String::new();
    let read = request.as_reader().take(MOST).read_to_string(&mut body);
    read.map_err(|e| Error::io("the request", e))?;
    let row: Vec<f32> = serde_json::from_str(&body)
        .map_err(|e| Error::format(format!("the body is no row of numbers in JSON: {e}")))?;
    let columns = predictor.model().map.input_dim();
    if row.len() != columns {
        let problem = format!(
            "the row has {} numbers; the model takes {columns}",
            row.len()
        );
        return Err(Error::shape(problem));
    }
    let row = Array2::from_shape_vec((1, columns), row).expect("as many as columns");
    let predictions = predictor.predict(&row.into())?;
    let model = predictor.model();
    let said = predictions.iter().map(|&y| match model.label(y) {
        Label::Text(text) => serde_json::Value::from(text),
        Label::Number(y) => serde_json::Value::from(y),
    });
    Ok(format!("{}\n", said.collect::<serde_json::Value>()))
}

/// Asks for every row over one connection, and for some that cannot be answered.
fn ask_all(address: SocketAddr, x: &Array2<f32>, y: &[f32]) -> Result<()> {
    let mut connection = Connection::to(address)?;
    let mut times = Vec::new();
    for (row, y) in x.rows().into_iter().zip(y) {
        let start = Instant::now();
        let (status, said) = connection.ask(&format!("{:?}", row.to_vec()))?;
        times.push(start.elapsed());
        let predicted: Vec<f32> = serde_json::from_str(&said).expect("numbers");
        assert!(status == 200 && (predicted[0] - y).abs() < 0.1, "{said}");
    }
    for (bad, says) in [
        ("[1, 2]", "takes 8"),
        ("[1, ", "no row"),
        ("[null]", "no row"),
    ] {
        let (status, said) = connection.ask(bad)?;
        assert!(status == 400 && said.contains(says), "{said}");
    }
    times.sort_unstable();
    let (median, slowest) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "a row of 8 columns through 512 features by HTTP: median {median:?}, slowest {slowest:?}"
    );
    Ok(())
}

/// A client of a few lines.
struct Connection {
    stream: TcpStream,
    address: SocketAddr,
}

impl Connection {
    fn to(address: SocketAddr) -> Result<Self> {
        let io = |e| Error::io(address.to_string(), e);
        let stream = TcpStream::connect(address).map_err(io)?;
        stream.set_nodelay(true).map_err(io)?;
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .map_err(io)?;
        Ok(Self { stream, address })
    }

    /// The status and the body of the answer.
    fn ask(&mut self, body: &str) -> Result<(u16, String)> {
        let request = format!(
            "POST /predict HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let answer = self.exchange(&request);
        answer.map_err(|e| Error::io(self.address.to_string(), e))
    }

    fn exchange(&mut self, request: &str) -> std::io::Result<(u16, String)> {
        self.stream.write_all(request.as_bytes())?;
        let (mut head, mut byte) = (String::new(), [0]);
        while !head.ends_with("\r\n\r\n") {
            self.stream.read_exact(&mut byte)?;
            head.push(char::from(byte[0]));
        }
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let is_length = name.eq_ignore_ascii_case("content-length");
            is_length.then(|| value.trim().parse().ok())?
        };
        let length = head.lines().find_map(header).unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let body = String::from_utf8(body).map_err(std::io::Error::other)?;
        Ok((status.unwrap_or(0), body))
    }
}
