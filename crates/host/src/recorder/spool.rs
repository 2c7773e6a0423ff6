//! The text of a recording while it is made: compressed, in a file without a name. Behind its head it becomes
//! one gzip file (RFC 1952): the head is known only when the command has ended, and no byte is compressed
//! twice.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// The header of a gzip file without name and time; the last byte is the system, Unix.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];

/// Receives the text.
pub(crate) struct Spool {
    out: DeflateEncoder<BufWriter<File>>,
    sum: Crc,
    length: u64,
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(bytes.get(..written).unwrap_or_default());
        self.length = self.length.wrapping_add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        // Flushing the encoder would end a block, and make the file larger.
        Ok(())
    }
}

impl Spool {
    /// Into an empty file.
    pub(crate) fn new(file: File) -> Self {
        let out = DeflateEncoder::new(BufWriter::with_capacity(1 << 16, file), Compression::new(3));
        Self { out, sum: Crc::new(), length: 0 }
    }

    /// Ends the text.
    pub(crate) fn finish(self) -> io::Result<Body> {
        let file = self.out.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Body { file, sum: self.sum, length: self.length })
    }
}

/// A whole text, compressed.
#[derive(Debug)]
pub struct Body {
    file: File,
    sum: Crc,
    /// Its length, not compressed, in bytes.
    pub length: u64,
}

impl Body {
    /// Writes a gzip file: a head, and this text.
    ///
    /// # Errors
    /// That of the system.
    pub fn write(&self, head: &str, out: &mut dyn Write) -> io::Result<()> {
        // A flush ends the blocks of the head at a whole byte, and the last block of the text ends both.
        let mut first = DeflateEncoder::new(Vec::new(), Compression::new(6));
        first.write_all(head.as_bytes())?;
        first.flush()?;
        out.write_all(&HEADER)?;
        out.write_all(first.get_ref())?;
        let mut file = BufReader::with_capacity(1 << 16, &self.file);
        file.seek(SeekFrom::Start(0))?;
        io::copy(&mut file, out)?;
        let mut sum = Crc::new();
        sum.update(head.as_bytes());
        sum.combine(&self.sum);
        out.write_all(&sum.sum().to_le_bytes())?;
        // Modulo 2^32, as the format has it.
        let length = self.length.wrapping_add(head.len() as u64) as u32;
        out.write_all(&length.to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn head_and_text_are_one_gzip_file() {
        for lines in [0, 1, 20_000] {
            let mut spool = Spool::new(tempfile::tempfile().unwrap());
            let mut text = String::new();
            for line in 0..lines {
                text += &format!("line {line} {}\n", line * 7_919 % 1_009);
            }
            for part in text.as_bytes().chunks(4_095) {
                spool.write_all(part).unwrap();
            }
            let body = spool.finish().unwrap();
            assert_eq!(body.length, text.len() as u64);
            let mut file = Vec::new();
            body.write("# head\n# more\n", &mut file).unwrap();
            let mut read = String::new();
            // This decoder reads one member only, and checks sum and length.
            flate2::read::GzDecoder::new(&file[..]).read_to_string(&mut read).unwrap();
            assert_eq!(read, format!("# head\n# more\n{text}"));
        }
    }
}
