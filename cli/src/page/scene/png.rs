//! A scene as a file of PNG.

use super::{Scene, canvas::Canvas};
use flate2::{Compression, write::ZlibEncoder};
use std::io::Write as _;

impl Scene {
    /// The picture as a file.
    pub(crate) fn png(&self) -> Vec<u8> {
        let mut canvas = Canvas::new(self.width, self.height);
        for shape in &self.shapes {
            canvas.draw(shape);
        }
        canvas.encoded()
    }
}

impl Canvas {
    /// The file (PNG, third edition, sections 5 and 11): eight bits of red, green and blue.
    fn encoded(&self) -> Vec<u8> {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        // A vector takes whatever is written to it.
        let _ = packed.write_all(&self.filtered());
        let packed = packed.finish().unwrap_or_default();
        let mut header = Vec::new();
        header.extend((self.width as u32).to_be_bytes());
        header.extend((self.height as u32).to_be_bytes());
        header.extend([8, 2, 0, 0, 0]);
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        for (name, content) in [
            (b"IHDR", &header),
            (b"IDAT", &packed),
            (b"IEND", &Vec::new()),
        ] {
            file.extend((content.len() as u32).to_be_bytes());
            let mut check = flate2::Crc::new();
            check.update(name);
            check.update(content);
            file.extend(name);
            file.extend(content);
            file.extend(check.sum().to_be_bytes());
        }
        file
    }

    /// Each byte less that of the pixel above, which is mostly 0, behind the number of this filter.
    fn filtered(&self) -> Vec<u8> {
        let mut rows = Vec::with_capacity(self.height * (3 * self.width + 1));
        let mut above = vec![0_u8; 3 * self.width];
        for row in self.pixels.chunks(self.width.max(1)) {
            rows.push(2);
            for (own, above) in row.iter().flatten().zip(&mut above) {
                rows.push(own.wrapping_sub(*above));
                *above = *own;
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{
        palette::{Colour, GROUND, INK, SERIES},
        scene::{Ink, canvas::SCALE},
    };
    use std::io::Read as _;

    /// Undoes the file by its own rules.
    fn pixels(file: &[u8]) -> (usize, usize, Vec<Colour>) {
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        let (mut at, mut size, mut packed) = (8, (0, 0), Vec::new());
        while at < file.len() {
            let word = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
            let length = word(at) as usize;
            let content = &file[at + 8..at + 8 + length];
            let mut check = flate2::Crc::new();
            check.update(&file[at + 4..at + 8 + length]);
            assert_eq!(check.sum(), word(at + 8 + length));
            match &file[at + 4..at + 8] {
                b"IHDR" => size = (word(at + 8) as usize, word(at + 12) as usize),
                b"IDAT" => packed.extend(content),
                _ => {}
            }
            at += 12 + length;
        }
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(packed.as_slice())
            .read_to_end(&mut rows)
            .unwrap();
        let mut above = vec![0_u8; 3 * size.0];
        let mut pixels = Vec::new();
        for row in rows.chunks(3 * size.0 + 1) {
            assert_eq!(row[0], 2);
            for (above, byte) in above.iter_mut().zip(&row[1..]) {
                *above = above.wrapping_add(*byte);
            }
            pixels.extend(above.chunks(3).map(|c| [c[0], c[1], c[2]]));
        }
        (size.0, size.1, pixels)
    }

    #[test]
    fn shapes_cover_the_pixels_that_they_lie_on() {
        let mut scene = Scene::new(20.0, 10.0, "");
        scene.rect((2.0, 3.0), (4.0, 2.0), Ink::Series(0), 1.0);
        scene.rect((10.0, 3.0), (4.0, 2.0), Ink::Text, 0.5);
        let (width, height, pixels) = pixels(&scene.png());
        assert_eq!((width, height), (40, 20));
        let at = |x: usize, y: usize| pixels[y * width + x];
        for (x, y, inside) in [
            (4, 6, true),
            (11, 9, true),
            (3, 6, false),
            (12, 9, false),
            (4, 5, false),
            (11, 10, false),
        ] {
            let wanted = if inside { SERIES[0] } else { GROUND };
            assert_eq!(at(x, y), wanted, "{x}, {y}");
        }
        // Half of the ink, half of the ground.
        assert_eq!(at(21, 7), [0x8d, 0x8d, 0x8f]);
    }

    /// The ink of a text is the area of its outlines, and lies about its point.
    #[test]
    fn text_has_the_area_of_its_glyphs() {
        let mut scene = Scene::new(60.0, 40.0, "");
        scene.small((30.0, 30.0), "l", 20.0, Ink::Text);
        let (width, _, pixels) = pixels(&scene.png());
        let dark = |c: &Colour| (255.0 - f64::from(c[0])) / (255.0 - f64::from(INK[0]));
        let (mut sum, mut middle) = (0.0, 0.0);
        for (i, c) in pixels.iter().enumerate() {
            sum += dark(c);
            middle += dark(c) * ((i % width) as f64 + 0.5);
        }
        // The letter is a bar, 184 units wide and 1,556 high of 2,048.
        let area = (184.0 / 2048.0) * (1556.0 / 2048.0) * 20.0 * 20.0 * SCALE * SCALE;
        assert!((sum / area - 1.0).abs() < 0.02, "{sum} {area}");
        assert!(
            (middle / sum - 30.0 * SCALE).abs() < 0.3,
            "{}",
            middle / sum
        );
    }
}
