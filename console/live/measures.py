"""Figures of the live streams, on /metrics with the others."""

from prometheus_client import Counter, Gauge

streams_open = Gauge("guildqueue_live_streams", "Streams that are open", ["kind"])
subjects_watched = Gauge("guildqueue_live_subjects", "Things that somebody looks at", ["kind"])
frames_sent = Counter("guildqueue_live_frames_sent", "Frames that began to be sent to a viewer")
frames_made = Counter("guildqueue_live_frames_made", "Frames rendered, each for all its viewers")
reads = Counter("guildqueue_live_reads", "Reads of what is watched", ["kind"])
ended = Counter("guildqueue_live_streams_ended", "Streams that the server ended", ["reason"])
notices = Counter("guildqueue_live_notices", "Changes that were heard of, not polled")
listening = Gauge("guildqueue_live_listening", "Whether this process hears of changes at once")
