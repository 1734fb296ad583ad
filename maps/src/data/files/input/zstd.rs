//! Zstandard frames one after the other, each held to its length and its checksum.

use crate::limits::ZSTD_WINDOW_BYTES as WINDOW;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};
use std::io::{self, BufRead, Read};

/// The contents of all frames of `source`.
pub(super) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    /// Whether a frame is begun and not yet read to its end.
    inside: bool,
    /// Bytes read of the frame.
    read: u64,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        Self {
            source,
            decoder,
            inside: false,
            read: 0,
        }
    }

    /// Begins the next frame that has contents; false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    (self.inside, self.read) = (true, 0);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let mut skipped = (&mut self.source).take(length);
                    if io::copy(&mut skipped, &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.fault(&error)),
            }
        }
        Ok(false)
    }

    /// A source that ended is told apart from one that holds something else.
    fn fault(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
            Err(error) => error,
        }
    }

    /// Errors unless the frame held what it said.
    fn finish(&mut self) -> io::Result<()> {
        self.inside = false;
        let promised = self.decoder.content_size();
        let told = self.decoder.get_checksum_from_data();
        if (promised > 0 && promised != self.read)
            || told.is_some_and(|told| self.decoder.get_calculated_checksum() != Some(told))
        {
            let problem = "its length or its checksum does not match";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.inside && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let block = BlockDecodingStrategy::UptoBlocks(1);
                if let Err(error) = self.decoder.decode_blocks(&mut self.source, block) {
                    return Err(self.fault(&error));
                }
            }
            let read = self.decoder.read(buffer)?;
            self.read += read as u64;
            if read > 0 {
                return Ok(read);
            }
            self.finish()?;
        }
    }
}
