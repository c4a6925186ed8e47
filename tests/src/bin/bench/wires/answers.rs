//! Builds long answers in the services' format, with all the fields around each word.

/// An answer of a wire: the parts before all words, around each, and after all.
pub(super) struct Form {
    pub(super) wire: &'static str,
    start: &'static str,
    before_word: &'static str,
    after_word: &'static str,
    end: &'static str,
}

pub(super) const FORMS: [Form; 5] = [
    Form {
        wire: "openai-chat",
        start: "",
        before_word: r#"data: {"id":"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG","object":"chat.completion.chunk","created":1763000000,"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_f7a584cf1f","choices":[{"index":0,"delta":{"content":""#,
        after_word: "\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n",
        end: "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    },
    Form {
        wire: "anthropic",
        start: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n",
        before_word: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"",
        after_word: "\"}}\n\n",
        end: "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    },
    Form {
        wire: "openai-responses",
        start: "",
        before_word: "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":412,\"item_id\":\"msg_68a1c2e0f4d48190a1b2c3d4e5f60718\",\"output_index\":0,\"content_index\":0,\"delta\":\"",
        after_word: "\",\"logprobs\":[],\"obfuscation\":\"hT4kQ9\"}\n\n",
        end: "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\"}}\n\n",
    },
    Form {
        wire: "gemini",
        start: "",
        before_word: r#"data: {"candidates": [{"content": {"parts": [{"text": ""#,
        after_word: "\"}],\"role\": \"model\"},\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": 412,\"candidatesTokenCount\": 96,\"totalTokenCount\": 508,\"promptTokensDetails\": [{\"modality\": \"TEXT\",\"tokenCount\": 412}]},\"modelVersion\": \"gemini-2.5-flash\",\"responseId\": \"kq0Zab3\"}\r\n\r\n",
        end: "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\r\n\r\n",
    },
    Form {
        wire: "ollama",
        start: "",
        before_word: r#"{"model":"qwen3:8b","created_at":"2026-01-01T12:00:00.123456789Z","message":{"role":"assistant","content":""#,
        after_word: "\"},\"done\":false}\n",
        end: "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
    },
];

const WORDS: [&str; 8] = ["The ", "quick", " answer", " to", " it", " \u{e9}t\u{e9}", " is\\n", " 42."];

impl Form {
    /// An answer of at least `bytes` bytes, and the text in it.
    pub(super) fn of_bytes(&self, bytes: usize) -> (String, usize) {
        let (mut answer, mut text_bytes) = (self.start.to_owned(), 0);
        for word in WORDS.iter().cycle() {
            if answer.len() >= bytes {
                break;
            }
            self.push(word, &mut answer);
            text_bytes += word.len() - word.matches("\\n").count();
        }
        (answer + self.end, text_bytes)
    }

    /// An answer of one word.
    pub(super) fn of_word(&self, word: &str) -> String {
        let mut answer = self.start.to_owned();
        self.push(word, &mut answer);
        answer + self.end
    }

    fn push(&self, word: &str, answer: &mut String) {
        answer.extend([self.before_word, word, self.after_word]);
    }
}
