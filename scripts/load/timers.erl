%% Erlang as a contender: one gen_statem process for each timer, all due at one instant, all told to one counter.
%%
%%     erl -noshell +P 2000000 -pa FOLDER -run timers main COUNT
%%
%% Each process has a state_timeout at the same instant. At that instant it changes its state and tells the counter, which
%% takes the time of its message. Meanwhile another process is called every 5 ms, to see how long an answer takes.
%% Prints one line of JSON, spans in microseconds, counted from the instant at which all are due.

-module(timers).
-behaviour(gen_statem).
-export([main/1, init/1, callback_mode/0, handle_event/4]).

-define(PROBE_MS, 5).

callback_mode() -> handle_event_function.

init({Due, Counter}) ->
    {ok, active, Counter, [{state_timeout, Due, due, [{abs, true}]}]};
init(probe) ->
    {ok, active, none}.

handle_event(state_timeout, due, active, Counter) ->
    Counter ! {done, erlang:monotonic_time()},
    {next_state, dismissed, Counter};
handle_event({call, From}, ping, State, _) ->
    {keep_state_and_data, [{reply, From, State}]}.

main([Words]) ->
    Count = list_to_integer(Words),
    Begun = erlang:monotonic_time(millisecond),
    %% Starting a process takes 5 us or so; the instant is to be after the last one has started.
    Due = Begun + 1000 + Count div 100,
    Self = self(),
    Ids = [element(2, gen_statem:start(?MODULE, {Due, Self}, [])) || _ <- lists:seq(1, Count)],
    {ok, Probed} = gen_statem:start(?MODULE, probe, []),
    case erlang:monotonic_time(millisecond) < Due of
        true -> ok;
        false -> io:format(standard_error, "timers: not started in time~n", []), halt(1)
    end,
    Memory = erlang:memory(total),
    Prober = spawn_link(fun() -> probe(Probed, Due, Self, []) end),
    At = erlang:convert_time_unit(Due, millisecond, native),
    Late = lists:sort(collect(Count, At, [])),
    Prober ! stop,
    Probes = receive {probes, Spans} -> lists:sort(Spans) end,
    Early = length([Span || Span <- Late, Span < 0]),
    io:format("{\"timers\":~b,\"early\":~b,\"seconds\":~.3f,\"p50\":~b,\"p99\":~b,\"bytes\":~b,\"probes\":~b,"
              "\"probeP99\":~b,\"probeMax\":~b}~n",
              [length(Ids), Early, lists:last(Late) / 1.0e6, part(Late, 0.5), part(Late, 0.99), Memory div Count,
               length(Probes), part(Probes, 0.99), lists:last(Probes)]),
    halt(if Early > 0 -> 1; true -> 0 end).

%% How late each message came to the counter.
collect(0, _, Spans) -> Spans;
collect(Left, At, Spans) ->
    receive {done, _} -> collect(Left - 1, At, [micros(erlang:monotonic_time() - At) | Spans])
    after 60000 -> io:format(standard_error, "timers: ~b never came~n", [Left]), halt(1)
    end.

%% Calls at fixed times, and counts from when each was intended.
probe(Probed, Intended, Counter, Spans) ->
    receive stop -> Counter ! {probes, Spans}
    after max(0, Intended - erlang:monotonic_time(millisecond)) ->
        active = gen_statem:call(Probed, ping, infinity),
        Span = micros(erlang:monotonic_time() - erlang:convert_time_unit(Intended, millisecond, native)),
        probe(Probed, Intended + ?PROBE_MS, Counter, [Span | Spans])
    end.

micros(Span) -> erlang:convert_time_unit(Span, native, microsecond).

part(Sorted, Part) -> lists:nth(max(1, ceil(length(Sorted) * Part)), Sorted).
