//! Abstract interpreter for shaders that runs all invocations of a workgroup together and checks
//! each index into objects of fixed length: workgroup memory, arrays, vectors.
//!
//! Numbers that follow from constants and from the invocation id are known, one per lane; numbers
//! from buffers or from the workgroup id are not. Both branches of an unknown condition are
//! interpreted; a loop with an unknown end is interpreted once, with everything that it writes
//! unknown.

use naga::{
    ArraySize, BinaryOperator, Block, BuiltIn, Expression, Function, Handle, Literal,
    LocalVariable, MathFunction, Module, ScalarKind, Statement, TypeInner, UnaryOperator,
    valid::{FunctionInfo, ModuleInfo},
};
use std::collections::HashMap;

/// Value of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Unknown,
    /// A number or boolean in each lane, if known.
    Lanes(Vec<Option<u32>>),
    /// One of several alternatives: an unknown number modulo a known one.
    OneOf(Vec<Vec<Option<u32>>>),
    /// The three numbers of an id.
    Place([Vec<u32>; 3]),
    /// A variable of the function, or a component of one.
    Local(Handle<LocalVariable>),
    PartOf(Handle<LocalVariable>),
}

/// Active lanes.
type Mask = Vec<bool>;

/// Results of the interpretation.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Number of checked indices, by statement and iteration.
    pub(crate) indices: usize,
    /// Messages for unknown indices and those out of bounds.
    pub(crate) faults: Vec<String>,
}

/// Interprets the entry point of a module.
pub(crate) fn walk(module: &Module, info: &ModuleInfo) -> Seen {
    let entry = &module.entry_points[0];
    let [x, y, z] = entry.workgroup_size;
    let lanes = x * y * z;
    let place = [
        (0..lanes).map(|i| i % x).collect(),
        (0..lanes).map(|i| i / x % y).collect(),
        (0..lanes).map(|i| i / (x * y)).collect(),
    ];
    let arguments = entry.function.arguments.iter();
    let arguments = arguments.map(|argument| match argument.binding {
        Some(naga::Binding::BuiltIn(BuiltIn::LocalInvocationId)) => Value::Place(place.clone()),
        Some(naga::Binding::BuiltIn(BuiltIn::LocalInvocationIndex)) => {
            Value::Lanes((0..lanes).map(Some).collect())
        }
        _ => Value::Unknown,
    });
    let mut seen = Seen::default();
    let mut call = Call::new(
        (module, info),
        (&entry.function, info.get_entry_point(0)),
        arguments.collect(),
        lanes as usize,
    );
    call.run(&vec![true; lanes as usize], &mut seen);
    seen
}

/// A function that is being interpreted.
struct Call<'m> {
    module: &'m Module,
    modules_info: &'m ModuleInfo,
    function: &'m Function,
    info: &'m FunctionInfo,
    arguments: Vec<Value>,
    lanes: usize,
    values: HashMap<Handle<Expression>, Value>,
    locals: HashMap<Handle<LocalVariable>, Value>,
    /// Its return value; unknown if it returns in several places.
    result: Option<Value>,
}

/// Whether a loop ends is unknown.
struct UnknownEnd;

/// Lanes that leave an iteration of a loop.
#[derive(Default)]
struct Leaving {
    out: Vec<usize>,
    on: Vec<usize>,
}

impl<'m> Call<'m> {
    fn new(
        (module, modules_info): (&'m Module, &'m ModuleInfo),
        (function, info): (&'m Function, &'m FunctionInfo),
        arguments: Vec<Value>,
        lanes: usize,
    ) -> Self {
        Self {
            module,
            modules_info,
            function,
            info,
            arguments,
            lanes,
            values: HashMap::new(),
            locals: HashMap::new(),
            result: None,
        }
    }

    fn run(&mut self, mask: &Mask, seen: &mut Seen) -> Value {
        for (local, variable) in self.function.local_variables.iter() {
            let start = variable.init.map_or(Value::Unknown, |e| self.value(e));
            self.locals.insert(local, start);
        }
        let mut leaving = Leaving::default();
        let body = &self.function.body;
        let ran = self.block(body, mask.clone(), false, &mut leaving, seen);
        assert!(ran.is_ok(), "a break outside of loops");
        self.result.take().unwrap_or(Value::Unknown)
    }

    /// Interprets a block; returns the lanes that reach its end. With `maybe` it is unknown whether
    /// the active lanes are active.
    fn block(
        &mut self,
        block: &Block,
        mut mask: Mask,
        maybe: bool,
        leaving: &mut Leaving,
        seen: &mut Seen,
    ) -> Result<Mask, UnknownEnd> {
        for statement in block {
            if !mask.contains(&true) {
                break;
            }
            match statement {
                Statement::Emit(range) => {
                    for expression in range.clone() {
                        let value = self.evaluate(expression, &mask, seen);
                        self.values.insert(expression, value);
                    }
                }
                Statement::Block(inner) => {
                    mask = self.block(inner, mask, maybe, leaving, seen)?;
                }
                Statement::If {
                    condition,
                    accept,
                    reject,
                } => match known(&self.value(*condition), &mask) {
                    Some(is) => {
                        let side = |yes: bool| {
                            let lanes = mask.iter().zip(&is);
                            lanes.map(|(&m, &c)| m && c == yes).collect()
                        };
                        let sides: [Mask; 2] = [side(true), side(false)];
                        let [yes, no] = sides;
                        let yes = self.block(accept, yes, maybe, leaving, seen)?;
                        let no = self.block(reject, no, maybe, leaving, seen)?;
                        mask = yes.iter().zip(&no).map(|(a, b)| a | b).collect();
                    }
                    None => {
                        let before = self.locals.clone();
                        self.block(accept, mask.clone(), true, leaving, seen)?;
                        let accepted = std::mem::replace(&mut self.locals, before);
                        self.block(reject, mask.clone(), true, leaving, seen)?;
                        for (local, value) in accepted {
                            if self.locals[&local] != value {
                                self.locals.insert(local, Value::Unknown);
                            }
                        }
                    }
                },
                Statement::Loop {
                    body,
                    continuing,
                    break_if: None,
                } => self.rounds(body, continuing, &mask, seen),
                Statement::Break | Statement::Continue if maybe => return Err(UnknownEnd),
                Statement::Break => {
                    leaving.out.extend((0..self.lanes).filter(|&l| mask[l]));
                    mask.fill(false);
                }
                Statement::Continue => {
                    leaving.on.extend((0..self.lanes).filter(|&l| mask[l]));
                    mask.fill(false);
                }
                Statement::Return { value } => {
                    let value = value.map_or(Value::Unknown, |e| self.value(e));
                    self.result = Some(match self.result {
                        None => value,
                        Some(_) => Value::Unknown,
                    });
                    // Lanes that may have left stay active, which only checks more.
                    if !maybe {
                        mask.fill(false);
                    }
                }
                Statement::Store { pointer, value } => match self.value(*pointer) {
                    Value::Local(local) => {
                        let value = self.value(*value);
                        let merged = merge(&self.locals[&local], value, &mask);
                        self.locals.insert(local, merged);
                    }
                    Value::PartOf(local) => {
                        self.locals.insert(local, Value::Unknown);
                    }
                    _ => {}
                },
                Statement::Call {
                    function,
                    arguments,
                    result,
                } => {
                    let given: Vec<_> = arguments.iter().map(|&e| self.value(e)).collect();
                    assert!(self.takes_no_pointer(*function), "a pointer is handed on");
                    let callee = &self.module.functions[*function];
                    let (module, info) = (self.module, self.modules_info);
                    let what = (callee, &info[*function]);
                    let mut call = Call::new((module, info), what, given, self.lanes);
                    let value = call.run(&mask, seen);
                    if let Some(result) = result {
                        self.values.insert(*result, value);
                    }
                }
                Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => {}
                other => panic!("the walk does not know {other:?}"),
            }
        }
        Ok(mask)
    }

    fn takes_no_pointer(&self, function: Handle<Function>) -> bool {
        let arguments = self.module.functions[function].arguments.iter();
        let mut types = arguments.map(|argument| &self.module.types[argument.ty].inner);
        !types.any(|ty| {
            matches!(
                ty,
                TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }
            )
        })
    }

    /// All iterations of a loop, or one that represents all if its end is unknown.
    fn rounds(&mut self, body: &Block, continuing: &Block, mask: &Mask, seen: &mut Seen) {
        let before = self.locals.clone();
        if self
            .known_rounds(body, continuing, mask.clone(), seen)
            .is_ok()
        {
            return;
        }
        self.locals = before;
        let mut written = Vec::new();
        stores(self.function, body, &mut written);
        stores(self.function, continuing, &mut written);
        let forget = |call: &mut Self| {
            for &local in &written {
                call.locals.insert(local, Value::Unknown);
            }
        };
        forget(self);
        for block in [body, continuing] {
            self.anyhow(block, mask, seen);
        }
        forget(self);
    }

    /// A block of a loop whose end is unknown: lanes that leave it are treated as active.
    fn anyhow(&mut self, block: &Block, mask: &Mask, seen: &mut Seen) {
        let leaves = |s: &Statement| match s {
            Statement::If { accept, reject, .. } => {
                let only = |b: &Block| b.iter().all(|s| matches!(s, Statement::Break));
                only(accept) && only(reject)
            }
            _ => false,
        };
        let mut rest = Block::new();
        for statement in block.iter().filter(|s| !leaves(s)) {
            rest.push(statement.clone(), naga::Span::UNDEFINED);
        }
        let ran = self.block(&rest, mask.clone(), false, &mut Leaving::default(), seen);
        assert!(
            ran.is_ok(),
            "a loop is left in the middle, nobody knows when"
        );
    }

    fn known_rounds(
        &mut self,
        body: &Block,
        continuing: &Block,
        mut mask: Mask,
        seen: &mut Seen,
    ) -> Result<(), UnknownEnd> {
        while mask.contains(&true) {
            let mut leaving = Leaving::default();
            mask = self.block(body, mask, false, &mut leaving, seen)?;
            leaving.on.iter().for_each(|&lane| mask[lane] = true);
            mask = self.block(continuing, mask, false, &mut Leaving::default(), seen)?;
        }
        Ok(())
    }

    fn value(&self, expression: Handle<Expression>) -> Value {
        if let Some(value) = self.values.get(&expression) {
            return value.clone();
        }
        match self.function.expressions[expression] {
            Expression::Literal(literal) => self.literal(literal),
            Expression::Constant(constant) => {
                let init = self.module.constants[constant].init;
                match self.module.global_expressions[init] {
                    Expression::Literal(literal) => self.literal(literal),
                    _ => Value::Unknown,
                }
            }
            Expression::FunctionArgument(i) => self.arguments[i as usize].clone(),
            Expression::LocalVariable(local) => Value::Local(local),
            _ => Value::Unknown,
        }
    }

    fn literal(&self, literal: Literal) -> Value {
        match literal {
            Literal::U32(v) => Value::Lanes(vec![Some(v); self.lanes]),
            Literal::Bool(v) => Value::Lanes(vec![Some(v.into()); self.lanes]),
            _ => Value::Unknown,
        }
    }

    fn evaluate(&self, expression: Handle<Expression>, mask: &Mask, seen: &mut Seen) -> Value {
        match self.function.expressions[expression] {
            Expression::Access { base, index } => {
                self.look(base, index, mask, seen);
                self.part(base)
            }
            Expression::AccessIndex { base, index } => match self.value(base) {
                Value::Place(place) => {
                    Value::Lanes(place[index as usize].iter().copied().map(Some).collect())
                }
                _ => self.part(base),
            },
            Expression::Load { pointer } => match self.value(pointer) {
                Value::Local(local) => self.locals[&local].clone(),
                _ => Value::Unknown,
            },
            Expression::Unary {
                op: UnaryOperator::LogicalNot,
                expr,
            } => lanes(&[self.value(expr)], |v| u32::from(v[0] == 0)),
            Expression::Binary { op, left, right } if self.is_whole(left) => {
                let both = [self.value(left), self.value(right)];
                if let (BinaryOperator::Modulo, Some(rests)) = (op, rests(&both)) {
                    return rests;
                }
                binary(op).map_or(Value::Unknown, |f| lanes(&both, |v| f(v[0], v[1])))
            }
            Expression::Math { fun, arg, arg1, .. } if self.is_whole(arg) => {
                let both = [arg, arg1.unwrap_or(arg)].map(|e| self.value(e));
                match fun {
                    MathFunction::Min => lanes(&both, |v| v[0].min(v[1])),
                    MathFunction::Max => lanes(&both, |v| v[0].max(v[1])),
                    _ => Value::Unknown,
                }
            }
            _ => self.value(expression),
        }
    }

    /// A component of the object that an expression points to.
    fn part(&self, base: Handle<Expression>) -> Value {
        match self.value(base) {
            Value::Local(local) | Value::PartOf(local) => Value::PartOf(local),
            _ => Value::Unknown,
        }
    }

    /// Whether it is unsigned or boolean.
    fn is_whole(&self, expression: Handle<Expression>) -> bool {
        let inner = self.info[expression].ty.inner_with(&self.module.types);
        let kinds = [ScalarKind::Uint, ScalarKind::Bool];
        matches!(inner, TypeInner::Scalar(scalar) if kinds.contains(&scalar.kind))
    }

    /// Checks an index, unless it refers to a storage buffer, whose length is dynamic.
    fn look(
        &self,
        base: Handle<Expression>,
        index: Handle<Expression>,
        mask: &Mask,
        seen: &mut Seen,
    ) {
        let types = &self.module.types;
        let inner = match self.info[base].ty.inner_with(types) {
            TypeInner::Pointer { base, .. } => &types[*base].inner,
            inner => inner,
        };
        let length = match *inner {
            TypeInner::Array {
                size: ArraySize::Constant(n),
                ..
            } => n.get(),
            TypeInner::Array {
                size: ArraySize::Dynamic,
                ..
            } => return,
            TypeInner::Vector { size, .. } => size as u32,
            TypeInner::ValuePointer {
                size: Some(size), ..
            } => size as u32,
            ref other => panic!("an index into {other:?}"),
        };
        seen.indices += 1;
        let index = self.value(index);
        let Some(all) = worlds(&index) else {
            return seen.faults.push(format!("an unknown one of {length}"));
        };
        let inside = |at: Option<u32>| at.is_some_and(|at| at < length);
        for at in all {
            let outside = (0..self.lanes).find(|&lane| mask[lane] && !inside(at[lane]));
            if let Some(lane) = outside {
                let at = at[lane];
                seen.faults
                    .push(format!("{at:?} of {length} in lane {lane}"));
            }
        }
    }
}

/// A condition in every active lane, if known in all of them.
fn known(condition: &Value, mask: &Mask) -> Option<Vec<bool>> {
    let Value::Lanes(is) = condition else {
        return None;
    };
    let all = is
        .iter()
        .zip(mask)
        .all(|(is, &there)| !there || is.is_some());
    all.then(|| is.iter().map(|&is| is == Some(1)).collect())
}

/// `new` in the active lanes, `old` in the others.
fn merge(old: &Value, new: Value, mask: &Mask) -> Value {
    let of = |value: &Value, lane: usize| match value {
        Value::Lanes(lanes) => lanes[lane],
        _ => None,
    };
    if mask.contains(&false) {
        let lane = |l: usize| of(if mask[l] { &new } else { old }, l);
        Value::Lanes((0..mask.len()).map(lane).collect())
    } else {
        new
    }
}

/// Maximum divisor, and so number of alternatives.
const MOST: u32 = 4;

/// Remainder of an unknown number divided by a small one that is known in all lanes: any of the
/// remainders in each lane; alternatives use the same one in all lanes, since lanes are checked one
/// by one.
fn rests([left, right]: &[Value; 2]) -> Option<Value> {
    let (Value::Unknown, Value::Lanes(by)) = (left, right) else {
        return None;
    };
    let lanes = by.len();
    let by = by[0].filter(|one| (1..=MOST).contains(one) && by.iter().all(|b| b == &Some(*one)))?;
    let rests = (0..by).map(|rest| vec![Some(rest); lanes]);
    Some(Value::OneOf(rests.collect()))
}

/// All alternatives of a number.
fn worlds(value: &Value) -> Option<&[Vec<Option<u32>>]> {
    match value {
        Value::Lanes(lanes) => Some(std::slice::from_ref(lanes)),
        Value::OneOf(all) => Some(all),
        _ => None,
    }
}

/// Applies a function to numbers lane by lane, for each combination of alternatives.
fn lanes<const N: usize>(of: &[Value; N], f: impl Fn([u32; N]) -> u32) -> Value {
    let mut ways: Vec<Vec<&[Option<u32>]>> = vec![Vec::new()];
    for value in of {
        let Some(all) = worlds(value) else {
            return Value::Unknown;
        };
        let mut longer = Vec::new();
        for way in &ways {
            longer.extend(
                all.iter()
                    .map(|one| [way.as_slice(), &[one.as_slice()]].concat()),
            );
        }
        ways = longer;
    }
    let lane = |way: &[&[Option<u32>]], lane: usize| {
        let mut numbers = [0; N];
        for (number, lanes) in numbers.iter_mut().zip(way) {
            *number = lanes[lane]?;
        }
        Some(f(numbers))
    };
    let all = ways
        .iter()
        .map(|way| (0..way[0].len()).map(|l| lane(way, l)).collect());
    let mut all: Vec<Vec<_>> = all.collect();
    match all.len() {
        1 => Value::Lanes(all.swap_remove(0)),
        2..=16 => Value::OneOf(all),
        _ => Value::Unknown,
    }
}

/// WGSL's operators on unsigned integers.
fn binary(op: BinaryOperator) -> Option<fn(u32, u32) -> u32> {
    use BinaryOperator as Op;
    Some(match op {
        Op::Add => u32::wrapping_add,
        Op::Subtract => u32::wrapping_sub,
        Op::Multiply => u32::wrapping_mul,
        Op::Divide => |a, b| a.checked_div(b).unwrap_or(a),
        Op::Modulo => |a, b| a.checked_rem(b).unwrap_or(0),
        Op::ExclusiveOr => |a, b| a ^ b,
        Op::And | Op::LogicalAnd => |a, b| a & b,
        Op::InclusiveOr | Op::LogicalOr => |a, b| a | b,
        Op::Equal => |a, b| u32::from(a == b),
        Op::NotEqual => |a, b| u32::from(a != b),
        Op::Less => |a, b| u32::from(a < b),
        Op::LessEqual => |a, b| u32::from(a <= b),
        Op::Greater => |a, b| u32::from(a > b),
        Op::GreaterEqual => |a, b| u32::from(a >= b),
        _ => return None,
    })
}

/// The variables that a block writes.
fn stores(function: &Function, block: &Block, found: &mut Vec<Handle<LocalVariable>>) {
    for statement in block {
        match statement {
            Statement::Store { pointer, .. } => {
                let mut at = *pointer;
                loop {
                    match function.expressions[at] {
                        Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                            at = base;
                        }
                        Expression::LocalVariable(local) => break found.push(local),
                        _ => break,
                    }
                }
            }
            Statement::Block(inner) => stores(function, inner, found),
            Statement::If { accept, reject, .. } => {
                stores(function, accept, found);
                stores(function, reject, found);
            }
            Statement::Loop {
                body, continuing, ..
            } => {
                stores(function, body, found);
                stores(function, continuing, found);
            }
            _ => {}
        }
    }
}
