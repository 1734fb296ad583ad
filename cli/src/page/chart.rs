//! Charts: bars, and panels of points, lines, cells and letters over two axes. The legend stands
//! above them, where it covers nothing.

use super::{
    escaped, font,
    labels::told_apart,
    scale::{Scale, tick_texts},
    scene::{At, mark},
};
pub(crate) use super::{
    scale::Axis,
    scene::{Anchor, Ink, Scene, Shape, TEXT},
};

/// Width of a chart in its own units, and how high a panel of one row is.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
/// What a panel leaves free: left, right, top, bottom; and for a title.
const MARGIN: (f64, f64, f64, f64) = (64.0, 16.0, 12.0, 44.0);
const TITLE: f64 = 20.0;
/// A row of the legend, and the sample of a series in it.
const LEGEND: f64 = 20.0;
const SAMPLE: f64 = 28.0;

/// One point: where it is, how far its y spreads, and whether it is drawn hollow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) spread: f64,
    pub(crate) hollow: bool,
}

impl Point {
    /// A filled point without spread.
    pub(crate) fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            spread: 0.0,
            hollow: false,
        }
    }

    /// A bar so far up and down.
    pub(crate) fn spread(self, spread: f64) -> Self {
        Self { spread, ..self }
    }
}

/// How points of a series are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// A mark each.
    Marks,
    /// A mark each, and a line through them.
    Joined,
    /// A line alone.
    Line,
    /// A dashed line alone: a reference, or what theory says.
    Dashed,
}

/// Points of one name. Series of one name in several panels are drawn alike.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
    pub(crate) drawn: Drawn,
}

impl Series {
    /// A series of these points.
    pub(crate) fn new(
        name: impl Into<String>,
        drawn: Drawn,
        points: impl IntoIterator<Item = Point>,
    ) -> Self {
        Self {
            name: name.into(),
            points: points.into_iter().collect(),
            drawn,
        }
    }

    /// A dashed line of one height over the whole axis.
    pub(crate) fn level(name: impl Into<String>, from: f64, to: f64, y: f64) -> Self {
        Self::new(name, Drawn::Dashed, [from, to].map(|x| Point::new(x, y)))
    }
}

/// An evenly divided rectangle of colours, row by row from the lowest y.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cells {
    /// From where to where along both axes.
    pub(crate) x: (f64, f64),
    pub(crate) y: (f64, f64),
    pub(crate) columns: usize,
    /// A colour of the palette and how much of it.
    pub(crate) values: Vec<(usize, f64)>,
}

/// A letter in the place of a mark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Letter {
    pub(crate) at: At,
    pub(crate) text: String,
    pub(crate) ink: Ink,
}

/// What lies over one pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// What tells it from the panels beside it; empty where it is alone.
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    pub(crate) cells: Option<Cells>,
    pub(crate) letters: Vec<Letter>,
}

impl Panel {
    /// A panel of series.
    pub(crate) fn new(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series,
            cells: None,
            letters: Vec::new(),
        }
    }
}

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// What it shows, below it.
    pub(crate) caption: String,
    pub(crate) panels: Vec<Panel>,
    /// Panels beside each other.
    pub(crate) columns: usize,
    /// Height of a row of panels.
    pub(crate) height: f64,
}

impl Chart {
    /// Panels in one row.
    pub(crate) fn new(caption: impl Into<String>, panels: Vec<Panel>) -> Self {
        Self {
            caption: caption.into(),
            columns: panels.len().max(1),
            panels,
            height: HEIGHT,
        }
    }

    /// The names of all series, once each, with how they are drawn.
    fn names(&self) -> Vec<(&str, Drawn)> {
        let mut names: Vec<(&str, Drawn)> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !names.iter().any(|(name, _)| *name == series.name) {
                names.push((&series.name, series.drawn));
            }
        }
        names
    }

    /// How high the legend is; nothing where one series speaks for itself.
    fn legend_height(&self) -> f64 {
        match self.legend() {
            entries if entries.is_empty() => 0.0,
            entries => entries.iter().fold(0.0, |most: f64, e| most.max(e.1.1)) + LEGEND,
        }
    }

    /// Entries of the legend, and where each begins.
    fn legend(&self) -> Vec<(String, At)> {
        let names: Vec<String> = self.names().iter().map(|of| of.0.to_owned()).collect();
        if names.len() < 2 {
            return Vec::new();
        }
        let (mut x, mut y) = (MARGIN.0, 0.0);
        let mut entries = Vec::new();
        let room = WIDTH - MARGIN.0 - SAMPLE - 16.0;
        for name in told_apart(&names, &|name| TEXT * font::width(name) <= room) {
            let width = SAMPLE + TEXT * font::width(&name) + 16.0;
            if x + width > WIDTH && x > MARGIN.0 {
                (x, y) = (MARGIN.0, y + LEGEND);
            }
            entries.push((name, (x, y)));
            x += width;
        }
        entries
    }

    /// The picture. None where nothing can be drawn.
    pub(crate) fn scene(&self) -> Option<Scene> {
        let rows = self.panels.len().div_ceil(self.columns.max(1));
        let above = self.legend_height();
        let height = above + rows as f64 * self.height;
        let mut scene = Scene::new(WIDTH, height, &self.caption);
        let names = self.names();
        for (i, (name, (x, y))) in self.legend().into_iter().enumerate() {
            let drawn = names[i].1;
            let middle = y + LEGEND / 2.0;
            if drawn != Drawn::Marks {
                scene.shapes.push(Shape::Line {
                    points: vec![(x, middle), (x + SAMPLE - 8.0, middle)],
                    width: 1.75,
                    dashed: drawn == Drawn::Dashed,
                    ink: Ink::Series(i),
                });
            }
            if matches!(drawn, Drawn::Marks | Drawn::Joined) {
                scene.shapes.push(Shape::Mark {
                    outline: mark(i, (x + SAMPLE / 2.0 - 4.0, middle)),
                    ink: Ink::Series(i),
                    hollow: false,
                    title: String::new(),
                });
            }
            scene.text((x + SAMPLE, middle + 4.0), name, Anchor::Start, Ink::Text);
        }
        let width = WIDTH / self.columns.max(1) as f64;
        let mut drawn = false;
        for (i, panel) in self.panels.iter().enumerate() {
            let (column, row) = (i % self.columns.max(1), i / self.columns.max(1));
            let corner = (column as f64 * width, above + row as f64 * self.height);
            let place = PanelFrame::new(panel, corner, (width, self.height));
            if let Some(place) = place {
                drawn = true;
                place.draw(&mut scene, panel, &names);
            }
        }
        drawn.then_some(scene)
    }

    /// The picture inside a page. Empty where nothing can be drawn.
    pub(crate) fn figure(&self) -> String {
        match self.scene() {
            Some(scene) => figure(&scene, &self.caption),
            None => String::new(),
        }
    }
}

/// A picture inside a page, with what it shows below it.
pub(crate) fn figure(scene: &Scene, caption: &str) -> String {
    format!(
        "<figure>{}<figcaption>{}</figcaption></figure>\n",
        scene.inline(),
        escaped(caption)
    )
}

/// Where a panel lies: its edges, and its scales.
struct PanelFrame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    across: Scale,
    up: Scale,
}

impl PanelFrame {
    fn new(panel: &Panel, corner: At, size: At) -> Option<Self> {
        let every = || panel.series.iter().flat_map(|series| &series.points);
        let letters = || panel.letters.iter().map(|letter| letter.at);
        let cells = || panel.cells.iter();
        let xs = every().map(|p| p.x).chain(letters().map(|at| at.0));
        let xs = xs.chain(cells().flat_map(|cells| [cells.x.0, cells.x.1]));
        let ys = every().flat_map(|p| [p.y - p.spread, p.y, p.y + p.spread]);
        let ys = ys.chain(letters().map(|at| at.1));
        let ys = ys.chain(cells().flat_map(|cells| [cells.y.0, cells.y.1]));
        let (left, right, top, bottom) = MARGIN;
        let title = if panel.title.is_empty() { 0.0 } else { TITLE };
        Some(Self {
            left: corner.0 + left,
            right: corner.0 + size.0 - right,
            top: corner.1 + top + title,
            bottom: corner.1 + size.1 - bottom,
            across: Scale::from_values(&panel.x, xs)?,
            up: Scale::from_values(&panel.y, ys)?,
        })
    }

    fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.across.share(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.up.share(value)
    }

    fn draw(&self, scene: &mut Scene, panel: &Panel, names: &[(&str, Drawn)]) {
        self.axes(scene, panel);
        if let Some(cells) = &panel.cells {
            self.cells(scene, cells);
        }
        for series in &panel.series {
            let index = names.iter().position(|(name, _)| *name == series.name);
            self.series(scene, panel, series, index.unwrap_or(0));
        }
        for letter in &panel.letters {
            let (x, y) = letter.at;
            if self.across.holds(x) && self.up.holds(y) {
                scene.shapes.push(Shape::Text {
                    at: (self.x(x), self.y(y) + 3.0),
                    text: letter.text.clone(),
                    size: 8.0,
                    anchor: Anchor::Middle,
                    ink: letter.ink,
                    upwards: false,
                });
            }
        }
    }

    fn axes(&self, scene: &mut Scene, panel: &Panel) {
        // Numbers of a narrow panel would run into each other.
        let texts = |most: usize| -> (Vec<f64>, f64) {
            let ticks = self.across.ticks(most);
            let widths = tick_texts(&ticks);
            let widths = widths.iter().map(|text| TEXT * font::width(text));
            let widest = widths.fold(0.0, f64::max);
            (ticks, widest + 6.0)
        };
        let mut most = 8;
        let ticks = loop {
            let (ticks, apart) = texts(most);
            let near = ticks
                .windows(2)
                .any(|pair| self.x(pair[1]) - self.x(pair[0]) < apart);
            if !near || most <= 3 {
                break drop_near(ticks, |v| self.x(v), apart);
            }
            most -= 1;
        };
        for (text, tick) in tick_texts(&ticks).into_iter().zip(ticks) {
            let at = self.x(tick);
            scene.line(vec![(at, self.top), (at, self.bottom)], 1.0, Ink::Grid);
            let below = (at, self.bottom + 16.0);
            scene.text(below, text, Anchor::Middle, Ink::Soft);
        }
        let ticks = drop_near(self.up.ticks(7), |v| -self.y(v), 14.0);
        for (text, tick) in tick_texts(&ticks).into_iter().zip(ticks) {
            let at = self.y(tick);
            scene.line(vec![(self.left, at), (self.right, at)], 1.0, Ink::Grid);
            let before = (self.left - 6.0, at + 4.0);
            scene.text(before, text, Anchor::End, Ink::Soft);
        }
        let middle = (self.left + self.right) / 2.0;
        let low = (middle, self.bottom + 36.0);
        scene.text(low, panel.x.name.as_str(), Anchor::Middle, Ink::Text);
        scene.shapes.push(Shape::Text {
            at: (self.left - 50.0, (self.top + self.bottom) / 2.0),
            text: panel.y.name.clone(),
            size: TEXT,
            anchor: Anchor::Middle,
            ink: Ink::Text,
            upwards: true,
        });
        if !panel.title.is_empty() {
            let above = (middle, self.top - 8.0);
            scene.text(above, panel.title.as_str(), Anchor::Middle, Ink::Text);
        }
    }

    fn cells(&self, scene: &mut Scene, cells: &Cells) {
        let rows = cells.values.len() / cells.columns.max(1);
        let width = (cells.x.1 - cells.x.0) / cells.columns.max(1) as f64;
        let height = (cells.y.1 - cells.y.0) / rows.max(1) as f64;
        for (i, row) in cells.values.chunks(cells.columns.max(1)).enumerate() {
            let low = cells.y.0 + i as f64 * height;
            let (top, bottom) = (self.y(low + height), self.y(low));
            // Neighbours of one colour are one rectangle.
            let mut j = 0;
            while j < row.len() {
                let same = row[j..]
                    .iter()
                    .take_while(|value| **value == row[j])
                    .count();
                let (ink, opacity) = row[j];
                let from = self.x(cells.x.0 + j as f64 * width);
                let to = self.x(cells.x.0 + (j + same) as f64 * width);
                let size = (to - from, bottom - top);
                if opacity > 0.0 {
                    scene.rect((from, top), size, Ink::Series(ink), opacity);
                }
                j += same;
            }
        }
    }

    fn series(&self, scene: &mut Scene, panel: &Panel, series: &Series, index: usize) {
        let ink = Ink::Series(index);
        let inside = || {
            let points = series.points.iter();
            points.filter(|p| self.across.holds(p.x) && self.up.holds(p.y))
        };
        if series.drawn != Drawn::Marks {
            // A line ends where a point is missing, rather than leap over the gap.
            let kept = |p: &Point| self.across.holds(p.x) && self.up.holds(p.y);
            for run in series.points.split(|p| !kept(p)).filter(|r| r.len() > 1) {
                scene.shapes.push(Shape::Line {
                    points: run.iter().map(|p| (self.x(p.x), self.y(p.y))).collect(),
                    width: 1.75,
                    dashed: series.drawn == Drawn::Dashed,
                    ink,
                });
            }
        }
        for p in inside() {
            let (cx, cy) = (self.x(p.x), self.y(p.y));
            if p.spread > 0.0 {
                let end = |v: f64| {
                    if self.up.holds(v) {
                        self.y(v)
                    } else {
                        self.y(self.up.least())
                    }
                };
                let ends = vec![(cx, end(p.y - p.spread)), (cx, self.y(p.y + p.spread))];
                scene.line(ends, 1.0, ink);
            }
            if matches!(series.drawn, Drawn::Line | Drawn::Dashed) {
                continue;
            }
            scene.shapes.push(Shape::Mark {
                outline: mark(index, (cx, cy)),
                ink,
                hollow: p.hollow,
                title: format!(
                    "{}: {} {}, {} {}",
                    series.name,
                    panel.x.name,
                    crate::report::six_digits(p.x),
                    panel.y.name,
                    crate::report::six_digits(p.y)
                ),
            });
        }
    }
}

/// Ticks without those that lie nearer to the one before than this.
fn drop_near(ticks: Vec<f64>, at: impl Fn(f64) -> f64, apart: f64) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    for tick in ticks {
        if kept.last().is_none_or(|last| at(tick) - at(*last) >= apart) {
            kept.push(tick);
        }
    }
    kept
}

/// Horizontal bars with a name at the left and a value, as it is said, behind each.
pub(crate) fn bars(what: &str, items: &[(String, f64)], said: fn(f64) -> String) -> Scene {
    const STEP: f64 = 22.0;
    const NAMES: f64 = 200.0;
    let mut scene = Scene::new(WIDTH, STEP * items.len() as f64 + 8.0, what);
    let most = items
        .iter()
        .fold(f64::MIN_POSITIVE, |most, item| most.max(item.1));
    let names: Vec<String> = items.iter().map(|item| item.0.clone()).collect();
    let names = told_apart(&names, &|name| TEXT * font::width(name) <= NAMES - 12.0);
    for (i, (name, (_, value))) in names.into_iter().zip(items).enumerate() {
        let y = 4.0 + STEP * i as f64;
        let length = (WIDTH - NAMES - 70.0) * value.max(0.0) / most;
        let middle = y + STEP * 0.66;
        let before = (NAMES - 8.0, middle);
        scene.text(before, name, Anchor::End, Ink::Text);
        scene.rect((NAMES, y), (length, STEP - 6.0), Ink::Series(0), 1.0);
        let after = (NAMES + length + 6.0, middle);
        scene.text(after, said(*value), Anchor::Start, Ink::Soft);
    }
    scene
}

/// `12.5 %`.
pub(crate) fn per_cent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
pub(crate) mod tests;
