//! Colours of pictures: by their part in a picture, and those of the light theme as numbers.

use super::scene::{COLOURS, Ink};

/// Red, green and blue.
pub(super) type Colour = [u8; 3];

/// The light theme of `colours.css`.
pub(super) const INK: Colour = [0x1b, 0x1b, 0x1f];
const SOFT: Colour = [0x5c, 0x5c, 0x66];
const GRID: Colour = [0xd5, 0xd5, 0xdc];
pub(super) const GROUND: Colour = [0xff, 0xff, 0xff];
pub(super) const SERIES: [Colour; COLOURS] = [
    [0x00, 0x72, 0xb2],
    [0xdd, 0x75, 0x08],
    [0x87, 0x00, 0x00],
    [0x2d, 0x1e, 0xb4],
    [0xc3, 0x2d, 0x00],
    [0x5a, 0x2d, 0x5a],
    [0x3c, 0x96, 0xf0],
    [0x96, 0x87, 0x87],
    [0x96, 0x4b, 0x69],
    [0x87, 0x00, 0xff],
];

/// The colour of an ink in the light theme.
pub(super) fn light(ink: Ink) -> Colour {
    match ink {
        Ink::Text => INK,
        Ink::Soft => SOFT,
        Ink::Grid => GRID,
        Ink::Ground => GROUND,
        Ink::Series(i) => SERIES[i % COLOURS],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: &str = include_str!("colours.css");

    /// The colours of a name in both themes.
    fn themes(name: &str) -> [Colour; 2] {
        let before = format!("--{name}: #");
        let mut found = STYLE.split(&before).skip(1).map(|text| {
            let byte = |i: usize| u8::from_str_radix(&text[i..i + 2], 16).expect("a number");
            [byte(0), byte(2), byte(4)]
        });
        [found.next(), found.next()].map(|colour| colour.expect("a colour"))
    }

    fn linear(colour: Colour) -> [f64; 3] {
        colour.map(|c| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        })
    }

    fn product(m: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        m.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// Oklab (Ottosson 2020), in which equal distances look about alike.
    fn seen(rgb: [f64; 3]) -> [f64; 3] {
        let cones = product(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ],
            rgb,
        );
        product(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ],
            cones.map(f64::cbrt),
        )
    }

    /// What eyes see of red, green and blue: most, and those without one kind of cones (Machado,
    /// Oliveira and Fernandes 2009, severity 1).
    const EYES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    fn distance(a: Colour, b: Colour) -> f64 {
        let least = |eye: [[f64; 3]; 3]| {
            let [a, b] = [a, b].map(|c| seen(product(eye, linear(c)).map(|v| v.clamp(0.0, 1.0))));
            a.iter()
                .zip(b)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        EYES.map(least).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// Contrast by the Web Content Accessibility Guidelines, 2.2.
    fn contrast(a: Colour, b: Colour) -> f64 {
        let luminance = |c| {
            let [r, g, b] = linear(c);
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    /// Each colour stands out from the ground by the 3 to 1 that those guidelines ask of graphics,
    /// and from each other colour in every eye.
    #[test]
    fn colours_are_told_apart_in_both_themes() {
        let all: Vec<_> = (0..COLOURS).map(|i| themes(&format!("c{i}"))).collect();
        let grounds = themes("ground");
        for theme in 0..2 {
            for (i, colours) in all.iter().enumerate() {
                let own = contrast(colours[theme], grounds[theme]);
                assert!(own >= 3.0, "{theme}, {i}: contrast {own}");
                for (j, others) in all[..i].iter().enumerate() {
                    let apart = distance(colours[theme], others[theme]);
                    assert!(apart > 0.1, "{theme}: {i} and {j} are {apart} apart");
                }
            }
        }
    }

    #[test]
    fn pictures_have_the_colours_of_pages() {
        let named = [
            ("ink", INK),
            ("soft", SOFT),
            ("line", GRID),
            ("ground", GROUND),
        ];
        for (name, colour) in named {
            assert_eq!(themes(name)[0], colour, "{name}");
        }
        for (i, colour) in SERIES.into_iter().enumerate() {
            assert_eq!(themes(&format!("c{i}"))[0], colour, "{i}");
        }
    }
}
