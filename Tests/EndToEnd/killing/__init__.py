"""The kill campaign: the real service on a durable store, killed with SIGKILL at random moments under load.

It proves, for every kill of a run, by what clients and subscribers alone can see:

- every command that was answered stands in the stream exactly once, at the `seq` and `revision` of its answer;
- no command was executed twice, however often it was sent, and a retry gets the very bytes of the first answer;
- the stream is dense, its epoch is constant, and an event that was ever received live has the same bytes in every
  later replay: nothing is published that is not in the journal;
- the entities are the fold of their events, and no read shows less than what was answered before;
- deadlines that passed while the service was down took effect once, in the order of their dates, with their lateness.

- `load`: the commands of one writer, from a seed.
- `writer`: sends them, keeps what was answered, retries what was not.
- `subscriber`: follows the stream through all kills, by `seq`, join and replay.
- `fold`: checks the stream event by event.
- `campaign`: starts, kills, restarts, compares, counts.
"""
