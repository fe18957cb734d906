//! The bridge from synchronous callers to the asynchronous runtime.

use std::future::Future;
use std::sync::mpsc;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// The runtime. Its work continues while callers wait.
pub(crate) struct Bridge {
    runtime: Option<Runtime>,
}

impl Bridge {
    pub(crate) fn start(threads: usize) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads.max(1))
            .thread_name("varve-cassandra")
            .enable_all()
            .build()?;
        Ok(Self {
            runtime: Some(runtime),
        })
    }

    /// Runs `work` on the runtime and waits for its end. The caller may itself be a thread of
    /// another runtime, so this parks the thread instead of entering a runtime. Returns `None` if
    /// the work panicked.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawn(async move {
            // Sending fails only if the caller has ended.
            let _ = sender.send(work.await);
        });
        receiver.recv().ok()
    }

    /// Runs `work` on the runtime without waiting.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.runtime
            .as_ref()
            .expect("the runtime is taken away by drop only")
            .spawn(work)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // Dropping a runtime blocks, which is not allowed on a thread of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
