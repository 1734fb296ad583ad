//! Charts: bars, and panels of points, lines, cells and letters over two axes. The legend stands
//! above them, where it covers nothing.

mod frame;

use super::{
    escaped, font,
    labels::told_apart,
    scene::{Anchor, At, Line, Shape, TEXT, mark},
};
pub(crate) use super::{
    scale::Axis,
    scene::{Ink, Scene},
};
use frame::PanelFrame;

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

impl Drawn {
    /// Whether each point has a mark.
    fn has_marks(self) -> bool {
        matches!(self, Self::Marks | Self::Joined)
    }

    /// The line of a series through these points.
    fn line(self, points: Vec<At>, ink: Ink) -> Line {
        Line {
            points,
            width: 1.75,
            dashed: self == Self::Dashed,
            ink,
        }
    }
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
        self.draw_legend(&mut scene, &names);
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

    /// A sample of each series with its name.
    fn draw_legend(&self, scene: &mut Scene, names: &[(&str, Drawn)]) {
        for (i, (name, (x, y))) in self.legend().into_iter().enumerate() {
            let (drawn, ink) = (names[i].1, Ink::Series(i));
            let middle = y + LEGEND / 2.0;
            if drawn != Drawn::Marks {
                let ends = vec![(x, middle), (x + SAMPLE - 8.0, middle)];
                scene.shapes.push(Shape::Line(drawn.line(ends, ink)));
            }
            if drawn.has_marks() {
                let outline = mark(i, (x + SAMPLE / 2.0 - 4.0, middle));
                scene.mark(outline, ink, false, String::new());
            }
            scene.text((x + SAMPLE, middle + 4.0), name, Anchor::Start, Ink::Text);
        }
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
