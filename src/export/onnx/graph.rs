//! A graph of standard operators, node by node. Field numbers are those of `onnx.proto3`.

use super::protobuf::Message;
use ndarray::{ArrayView1, ArrayView2};

/// The version of the standard operators, of ONNX 1.12.
const OPSET: u64 = 17;
/// The version of the file, of ONNX 1.12.
const IR_VERSION: u64 = 8;

/// What the entries of a tensor are, by the number in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    F32 = 1,
    I64 = 7,
    Text = 8,
    Truth = 9,
    F64 = 11,
}

/// A value that a node gave or takes: its name, and what its entries are.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) entries: Entries,
}

/// An option of a node.
pub(super) enum Attribute {
    Int(&'static str, i64),
}

/// Nodes and constants so far.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    /// Bytes of all constants.
    bytes: u64,
}

impl Graph {
    /// Bytes that the constants take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The input, of any number of rows.
    pub(super) fn input(&mut self, name: &str, entries: Entries, columns: usize) -> Value {
        self.inputs
            .push(described(name, entries, &[None, Some(columns)]));
        Value {
            name: name.to_owned(),
            entries,
        }
    }

    /// Gives a value out by a name: of rows, each with `columns` entries, or one without.
    pub(super) fn output(&mut self, value: &Value, name: &str, columns: Option<usize>) {
        let node = node("Identity", &[value], name, &[]);
        self.nodes.push(node);
        let shape: Vec<_> = [None].into_iter().chain(columns.map(Some)).collect();
        self.outputs.push(described(name, value.entries, &shape));
    }

    /// What a standard operator makes of values; its entries are those of the first.
    pub(super) fn apply(&mut self, operator: &str, values: &[&Value]) -> Value {
        let entries = values.first().map_or(Entries::F32, |value| value.entries);
        self.apply_as(operator, values, &[], entries)
    }

    /// As [`Self::apply`], with attributes and other entries.
    pub(super) fn apply_as(
        &mut self,
        operator: &str,
        values: &[&Value],
        attributes: &[Attribute],
        entries: Entries,
    ) -> Value {
        let name = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        self.nodes.push(node(operator, values, &name, attributes));
        Value { name, entries }
    }

    /// The same numbers with other entries.
    pub(super) fn cast(&mut self, value: &Value, to: Entries) -> Value {
        if value.entries == to {
            value.clone()
        } else {
            let to_number = Attribute::Int("to", to as i64);
            self.apply_as("Cast", &[value], &[to_number], to)
        }
    }

    /// A constant matrix.
    pub(super) fn matrix(&mut self, values: ArrayView2<'_, f64>, entries: Entries) -> Value {
        let dims = [values.nrows(), values.ncols()];
        self.floats(&dims, values.iter().copied(), entries)
    }

    /// A constant row.
    pub(super) fn row(&mut self, values: ArrayView1<'_, f64>, entries: Entries) -> Value {
        self.floats(&[values.len()], values.iter().copied(), entries)
    }

    /// A constant number.
    pub(super) fn number(&mut self, value: f64, entries: Entries) -> Value {
        self.floats(&[], [value].into_iter(), entries)
    }

    fn floats(
        &mut self,
        dims: &[usize],
        values: impl Iterator<Item = f64>,
        entries: Entries,
    ) -> Value {
        let raw: Vec<u8> = match entries {
            Entries::F32 => values.flat_map(|v| (v as f32).to_le_bytes()).collect(),
            _ => values.flat_map(|v| v.to_le_bytes()).collect(),
        };
        self.raw(dims, &raw, entries)
    }

    /// Whole numbers, such as the axes that an operator works along.
    pub(super) fn integers(&mut self, values: &[i64]) -> Value {
        let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.raw(&[values.len()], &raw, Entries::I64)
    }

    /// A row of texts.
    pub(super) fn texts(&mut self, values: &[String]) -> Value {
        let tensor = tensor(&[values.len()], Entries::Text);
        let tensor = values
            .iter()
            .fold(tensor, |tensor, text| tensor.text(6, text));
        self.constant(tensor, Entries::Text)
    }

    fn raw(&mut self, dims: &[usize], raw: &[u8], entries: Entries) -> Value {
        let tensor = tensor(dims, entries).block(9, raw);
        self.constant(tensor, entries)
    }

    fn constant(&mut self, tensor: Message, entries: Entries) -> Value {
        let name = format!("constant_{}", self.constants.len());
        let tensor = tensor.text(8, &name);
        self.bytes += tensor.bytes().len() as u64;
        self.constants.push(tensor);
        Value { name, entries }
    }

    /// The bytes of a model file, with facts for people.
    pub(super) fn into_model(self, facts: &[(&str, String)]) -> Vec<u8> {
        let all = |graph: Message, field, parts: &[Message]| {
            parts
                .iter()
                .fold(graph, |graph, part| graph.message(field, part))
        };
        let graph = all(Message::default(), 1, &self.nodes).text(2, "bochner");
        let graph = all(graph, 5, &self.constants);
        let graph = all(all(graph, 11, &self.inputs), 12, &self.outputs);
        let opset = Message::default().text(1, "").number(2, OPSET);
        let model = Message::default()
            .number(1, IR_VERSION)
            .text(2, "bochner")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, &graph)
            .message(8, &opset);
        let facts = facts.iter().fold(model, |model, (key, value)| {
            let fact = Message::default().text(1, key).text(2, value);
            model.message(14, &fact)
        });
        facts.into_bytes()
    }
}

fn tensor(dims: &[usize], entries: Entries) -> Message {
    let dims = dims.iter().fold(Message::default(), |tensor, &dim| {
        tensor.number(1, dim as u64)
    });
    dims.number(2, entries as u64)
}

fn node(operator: &str, inputs: &[&Value], output: &str, attributes: &[Attribute]) -> Message {
    let node = inputs
        .iter()
        .fold(Message::default(), |node, value| node.text(1, &value.name));
    let node = node.text(2, output).text(3, output).text(4, operator);
    attributes
        .iter()
        .fold(node, |node, Attribute::Int(name, value)| {
            // Type 2 is a whole number; a negative one takes its 64 bits.
            let attribute = Message::default()
                .text(1, name)
                .number(3, *value as u64)
                .number(20, 2);
            node.message(5, &attribute)
        })
}

/// The type of an input or an output; dimensions that are not known are the number of rows.
fn described(name: &str, entries: Entries, dims: &[Option<usize>]) -> Message {
    let shape = dims.iter().fold(Message::default(), |shape, dim| {
        let dim = match dim {
            Some(known) => Message::default().number(1, *known as u64),
            None => Message::default().text(2, "rows"),
        };
        shape.message(1, &dim)
    });
    let tensor = Message::default()
        .number(1, entries as u64)
        .message(2, &shape);
    let kind = Message::default().message(1, &tensor);
    Message::default().text(1, name).message(2, &kind)
}
