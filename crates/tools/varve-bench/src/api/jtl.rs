//! Single samples as a CSV file in JMeter's format, so that JMeter can make its own report of them.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

/// The number of samples in one message to the writer.
pub(crate) const CHUNK: usize = 4_096;

/// The columns of JMeter's default file.
const HEAD: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// One sample; times in nanoseconds, `sent` since the row's start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) sent: u64,
    pub(crate) took: u64,
    pub(crate) connect: u64,
    pub(crate) user: u32,
    pub(crate) users: u32,
    pub(crate) status: u16,
    pub(crate) ok: bool,
    pub(crate) received: u32,
    pub(crate) sent_bytes: u32,
}

/// A file of samples to which rows are appended.
pub(crate) struct Writer {
    out: BufWriter<std::fs::File>,
}

impl Writer {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file =
            std::fs::File::create(path).with_context(|| format!("creating {}", path.display()))?;
        let mut out = BufWriter::new(file);
        writeln!(out, "{HEAD}")?;
        Ok(Self { out })
    }

    /// Writes the samples of a row that started at `start` until its workers have ended.
    pub(crate) fn row(
        &mut self,
        label: &str,
        start: SystemTime,
        samples: &Receiver<Vec<Sample>>,
    ) -> Result<()> {
        let start = start.duration_since(UNIX_EPOCH).unwrap_or_default();
        for chunk in samples {
            for sample in chunk {
                self.sample(label, start, &sample)?;
            }
        }
        self.out.flush().context("writing the samples")
    }

    fn sample(&mut self, label: &str, start: Duration, sample: &Sample) -> Result<()> {
        let at = (start + Duration::from_nanos(sample.sent)).as_millis();
        let ms = |nanos: u64| nanos / 1_000_000;
        writeln!(
            self.out,
            "{at},{took},{label},{status},,users 1-{user},text,{ok},,{received},{sent},{users},{users},,{took},0,{connect}",
            took = ms(sample.took),
            status = sample.status,
            user = sample.user + 1,
            ok = sample.ok,
            received = sample.received,
            sent = sample.sent_bytes,
            users = sample.users,
            connect = ms(sample.connect),
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_every_column() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("samples.jtl");
        let (sender, receiver) = std::sync::mpsc::channel();
        let sample = Sample {
            sent: 2_000_000,
            took: 7_999_999,
            connect: 1_000_000,
            user: 4,
            users: 9,
            status: 200,
            ok: true,
            received: 180,
            sent_bytes: 90,
        };
        sender.send(vec![sample]).expect("taken");
        drop(sender);
        let mut writer = Writer::create(&path).expect("created");
        writer
            .row(
                "vertex_by_id",
                UNIX_EPOCH + Duration::from_secs(1),
                &receiver,
            )
            .expect("written");
        let text = std::fs::read_to_string(&path).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            "1002,7,vertex_by_id,200,,users 1-5,text,true,,180,90,9,9,,7,0,1"
        );
        assert_eq!(lines[0].matches(',').count(), lines[1].matches(',').count());
    }
}
