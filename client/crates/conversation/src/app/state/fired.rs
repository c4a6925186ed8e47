//! Fires of watchers that wait until the user's prompt is left alone.

use std::collections::VecDeque;

use cohab_protocol::WatcherFired;

/// Most news that wait, more than there can be watchers: one firing stands for all of its watcher.
const MAX_WAITING: usize = 2_048;
/// Firings that are known to be shown: the daemon may say one again.
const MAX_SHOWN: usize = 64;

/// One thing to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// A watcher has fired.
    Fired(Box<WatcherFired>),
    /// A background task is over: what there is to know, and what to do about it, in a line each.
    Task(String, String),
    /// A sentence of the daemon that belongs to no turn.
    Line(String),
}

/// What is to be shown once the prompt is left alone.
#[derive(Debug, Default)]
pub(crate) struct FiredQueue {
    waiting: VecDeque<News>,
    shown: VecDeque<(u32, u64)>,
    /// The relay has been asked for the terminal.
    pub is_coming: bool,
}

impl FiredQueue {
    /// Whether this firing was shown: the daemon may not know it.
    pub(crate) fn was_shown(&self, watcher: u32, fired: u64) -> bool {
        self.shown.contains(&(watcher, fired))
    }

    /// Adds a firing, if there is room; a later one of the same watcher stands for the one before.
    pub(crate) fn add(&mut self, fired: WatcherFired) {
        let is_of_same = |news: &&mut News| matches!(news, News::Fired(one) if one.watcher == fired.watcher);
        match self.waiting.iter_mut().find(is_of_same) {
            Some(News::Fired(one)) if one.fired >= fired.fired => {}
            Some(one) => *one = News::Fired(Box::new(fired)),
            None => self.push(News::Fired(Box::new(fired))),
        }
    }

    /// Adds something, if there is room.
    pub(crate) fn push(&mut self, news: News) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(news);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next one, which is shown now.
    pub(crate) fn take(&mut self) -> Option<News> {
        let news = self.waiting.pop_front()?;
        if let News::Fired(fired) = &news {
            if self.shown.len() == MAX_SHOWN {
                self.shown.pop_front();
            }
            self.shown.push_back((fired.watcher, fired.fired));
        }
        Some(news)
    }
}
