//! Opens a file: unpacks gzip and zstd, and decodes its charset, into a temporary file.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use encoding_rs::{DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use flate2::read::MultiGzDecoder;
use tempfile::NamedTempFile;

use crate::records::BOM;
use crate::{Format, Options};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The bytes of a file that show whether it is a text.
const HEAD_BYTES: usize = 1024;
/// The bytes from which a charset is guessed.
const GUESS_BYTES: u64 = 1 << 20;
/// Bytes decoded at once.
const DECODED_BYTES: usize = 1 << 16;

/// How a file is packed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compression {
    /// It is not.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

/// What was found out about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its format.
    pub format: Format,
    /// How it is packed.
    pub compression: Compression,
    /// The charset of a text.
    pub charset: Option<&'static str>,
    /// Whether a text begins with a byte order mark.
    pub has_mark: bool,
}

/// The content of a file, unpacked and decoded, and what was found out about it.
type Content = (File, Found);

/// The temporary file with the content of a packed or decoded file, made once and shared. Each
/// reader has a position of its own.
#[derive(Debug, Clone, Default)]
pub struct Unpacked(Arc<OnceLock<(NamedTempFile, Found)>>);

/// The charset with this label.
pub(crate) fn charset(label: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label(label.as_bytes())
        .ok_or_else(|| format!("charset '{label}' is not known; say it as in HTML: gbk, latin1"))
}

/// Opens a file at its start: a text in UTF-8, perhaps with a byte order mark, or Parquet or Arrow.
pub(crate) fn open(path: &Path, options: &Options, unpacked: &Unpacked) -> Result<Content, String> {
    let failed = |error: io::Error| error.to_string();
    if let Some((file, found)) = unpacked.0.get() {
        return Ok((file.reopen().map_err(failed)?, found.clone()));
    }
    let mut file = File::open(path).map_err(failed)?;
    let compression = compression(&head_of(&file).map_err(failed)?);
    let mut kept = None;
    if compression != Compression::None {
        let made = unpack(file, compression, options)
            .map_err(|error| format!("cannot be unpacked: {error}"))?;
        file = made.reopen().map_err(failed)?;
        kept = Some(made);
    }
    let head = head_of(&file).map_err(failed)?;
    let format = format_of(path, options, &head)?;
    let mut found = Found {
        format,
        compression,
        charset: None,
        has_mark: false,
    };
    if matches!(format, Format::Csv | Format::Jsonl | Format::Json) {
        let marked = Encoding::for_bom(&head).map(|(encoding, _)| encoding);
        let given = options.charset.as_deref().map(charset).transpose()?;
        let encoding = marked.or(given).unwrap_or(UTF_8);
        found.charset = Some(encoding.name());
        found.has_mark = marked.is_some();
        if encoding != UTF_8 {
            let made = decode(file, encoding, options)?;
            file = made.reopen().map_err(failed)?;
            kept = Some(made);
        } else if let Some(fault) = no_text(&head) {
            return Err(fault.to_owned());
        }
    }
    if let Some(kept) = kept {
        unpacked.0.get_or_init(|| (kept, found.clone()));
    }
    Ok((file, found))
}

/// Opens a text in UTF-8, perhaps packed.
///
/// # Errors
/// When the file cannot be read, or is no text.
pub fn open_text(path: &Path, unpacked: &Unpacked) -> Result<File, String> {
    let options = Options {
        format: Some(Format::Jsonl),
        ..Options::default()
    };
    open(path, &options, unpacked).map(|(file, _)| file)
}

/// The charset that the beginning of a file most likely has; `None` for UTF-8 and for a file that
/// says its charset with a byte order mark.
///
/// # Errors
/// When the file cannot be read.
pub fn likely_charset(path: &Path) -> Result<Option<&'static str>, String> {
    let failed = |error: io::Error| error.to_string();
    let file = File::open(path).map_err(failed)?;
    let head = head_of(&file).map_err(failed)?;
    let mut text = Vec::new();
    reader(file, compression(&head))
        .and_then(|input| input.take(GUESS_BYTES).read_to_end(&mut text))
        .map_err(failed)?;
    let is_binary = text.starts_with(b"PAR1") || text.starts_with(b"ARROW1") || text.contains(&0);
    if is_binary || Encoding::for_bom(&text).is_some() {
        return Ok(None);
    }
    match std::str::from_utf8(&text) {
        Ok(_) => return Ok(None),
        // The piece may end within a character.
        Err(error) if error.error_len().is_none() => return Ok(None),
        Err(_) => {}
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(&text, true);
    Ok(Some(
        detector.guess(None, chardetng::Utf8Detection::Deny).name(),
    ))
}

fn head_of(file: &File) -> io::Result<Vec<u8>> {
    let mut head = vec![0; HEAD_BYTES];
    let length = file.read_at(&mut head, 0)?;
    head.truncate(length);
    Ok(head)
}

fn compression(head: &[u8]) -> Compression {
    match head {
        _ if head.starts_with(GZIP) => Compression::Gzip,
        _ if head.starts_with(ZSTD) => Compression::Zstd,
        _ => Compression::None,
    }
}

fn reader(file: File, compression: Compression) -> io::Result<Box<dyn Read>> {
    Ok(match compression {
        Compression::None => Box::new(file),
        Compression::Gzip => Box::new(MultiGzDecoder::new(file)),
        Compression::Zstd => Box::new(zstd::Decoder::new(file)?),
    })
}

fn temporary(options: &Options) -> io::Result<NamedTempFile> {
    match &options.folder {
        Some(folder) => NamedTempFile::new_in(folder),
        None => NamedTempFile::new(),
    }
}

fn unpack(packed: File, compression: Compression, options: &Options) -> io::Result<NamedTempFile> {
    let most = options.unpacked_bytes_max.unwrap_or(u64::MAX);
    let mut unpacked = temporary(options)?;
    let mut reader = reader(packed, compression)?.take(most.saturating_add(1));
    if io::copy(&mut reader, &mut unpacked)? > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(unpacked)
}

/// The format: of the content, if that is Parquet or Arrow, else the given one or that of the name.
fn format_of(path: &Path, options: &Options, head: &[u8]) -> Result<Format, String> {
    let named = options.format.or_else(|| Format::of_name(path));
    let seen = match head {
        _ if head.starts_with(b"PAR1") => Some(Format::Parquet),
        _ if head.starts_with(b"ARROW1") => Some(Format::Arrow),
        _ => None,
    };
    match (seen, named) {
        (Some(seen), _) => Ok(seen),
        (None, Some(Format::Parquet)) => Err("it is not a Parquet file".to_owned()),
        // One object a line, as many tools write into a file of this name.
        (None, Some(Format::Json)) if first_mark(head) == Some(b'{') => Ok(Format::Jsonl),
        (None, Some(named)) => Ok(named),
        (None, None) => Err("say its `format`: csv, jsonl, json, parquet or arrow".to_owned()),
    }
}

fn first_mark(head: &[u8]) -> Option<u8> {
    let text = head.strip_prefix(BOM).unwrap_or(head);
    text.trim_ascii_start().first().copied()
}

/// What a file is that begins with these bytes and is no text in UTF-8.
fn no_text(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"PK\x03\x04") {
        return Some("it is a ZIP archive or a workbook; unpack it, or save the sheet as CSV");
    }
    head.contains(&0)
        .then_some("it is binary or in UTF-16, not a text in UTF-8; if it is a text, say `charset`")
}

/// The text in UTF-8, in a temporary file.
fn decode(
    file: File,
    encoding: &'static Encoding,
    options: &Options,
) -> Result<NamedTempFile, String> {
    let most = options.unpacked_bytes_max.unwrap_or(u64::MAX);
    let failed = |error: io::Error| error.to_string();
    let mut input = BufReader::with_capacity(DECODED_BYTES, file);
    let mut output = BufWriter::new(temporary(options).map_err(failed)?);
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let mut text = vec![0; 4 * DECODED_BYTES];
    let mut place = Place { line: 1, column: 1 };
    let mut length = 0;
    let is_utf16 = encoding == UTF_16LE || encoding == UTF_16BE;
    loop {
        let bytes = input.fill_buf().map_err(failed)?;
        let is_last = bytes.is_empty();
        let (result, used, written) =
            decoder.decode_to_utf8_without_replacement(bytes, &mut text, is_last);
        input.consume(used);
        place.pass(&text[..written]);
        length += written as u64;
        if length > most {
            return Err(format!("its text has more than {most} bytes in UTF-8"));
        }
        output.write_all(&text[..written]).map_err(failed)?;
        match result {
            DecoderResult::Malformed(..) => {
                let Place { line, column } = place;
                let hint = if is_utf16 {
                    ""
                } else {
                    "; is `charset` right?"
                };
                let name = encoding.name();
                return Err(format!(
                    "line {line}, character {column}: no character of {name}{hint}"
                ));
            }
            DecoderResult::InputEmpty if is_last => break,
            DecoderResult::InputEmpty | DecoderResult::OutputFull => {}
        }
    }
    output.into_inner().map_err(|error| error.to_string())
}

/// A place in a text.
struct Place {
    line: u64,
    column: u64,
}

impl Place {
    fn pass(&mut self, text: &[u8]) {
        for byte in text {
            match byte {
                b'\n' => {
                    *self = Self {
                        line: self.line + 1,
                        column: 1,
                    }
                }
                // A further byte of a character.
                0x80..=0xbf => {}
                _ => self.column += 1,
            }
        }
    }
}
