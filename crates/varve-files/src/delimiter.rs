//! Recognizes the delimiter of a CSV file from its first records.

use crate::records::{BOM, Records};

/// The delimiters that are recognized.
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
/// The records that are looked at.
const RECORDS_MAX: usize = 20;

/// The delimiter that a first line `sep=;` names, as spreadsheets read it.
pub(crate) fn named(head: &[u8]) -> Option<u8> {
    let text = head.strip_prefix(BOM).unwrap_or(head);
    match text.strip_prefix(b"sep=")? {
        [mark, b'\r' | b'\n', ..] if mark.is_ascii() && !b"\"\r\n".contains(mark) => Some(*mark),
        _ => None,
    }
}

/// The delimiter of a file that begins with `head`. `is_whole` says that the file ends there;
/// `columns` is the number of columns, if the mapping names them.
///
/// A delimiter fits if it gives all records the same number of cells, at least two. Among several
/// that fit, `usual` goes first. If none fits, the header decides.
///
/// # Errors
/// When two delimiters are equally likely.
pub(crate) fn recognized(
    head: &[u8],
    is_whole: bool,
    usual: u8,
    columns: Option<usize>,
) -> Result<u8, String> {
    if columns == Some(1) {
        return Ok(usual);
    }
    let widths = CANDIDATES.map(|candidate| (candidate, widths(head, is_whole, candidate)));
    let fits = |widths: &[usize]| {
        let first = widths.first().copied().unwrap_or_default();
        let expected = columns.unwrap_or(first);
        expected > 1 && widths.iter().all(|width| *width == expected)
    };
    let in_header = |widths: &[usize]| widths.first().is_some_and(|width| *width > 1);
    for likely in [&fits as &dyn Fn(&[usize]) -> bool, &in_header] {
        let found = widths.iter().filter(|(_, widths)| likely(widths));
        let found: Vec<u8> = found.map(|(candidate, _)| *candidate).collect();
        match &*found {
            [] => {}
            [only] => return Ok(*only),
            several if several.contains(&usual) => return Ok(usual),
            several => {
                let names: Vec<_> = several.iter().map(|it| char::from(*it)).collect();
                return Err(format!(
                    "its columns may be separated by any of {names:?}: name one as `delimiter` in \
                     the mapping"
                ));
            }
        }
    }
    Ok(usual)
}

/// The number of cells of each of the first records.
fn widths(head: &[u8], is_whole: bool, delimiter: u8) -> Vec<usize> {
    let mut records = Records::new(head, delimiter);
    let mut widths = Vec::new();
    while let (true, Ok(Some(record))) = (widths.len() <= RECORDS_MAX, records.next()) {
        widths.push(record.cells.map_or(0, |cells| cells.len()));
    }
    // The head may end within the last record.
    if widths.len() > RECORDS_MAX || (!is_whole && widths.len() > 1) {
        widths.pop();
    }
    widths
}
