/// What comes of every event in every state, as ``ControlPairsTests`` reads it: an event, the states, and behind the
/// colon what happens there. Where a state is missing, nothing happens.
enum ControlPairsTable {
    static func rows(_ sample: ControlSample) -> String {
        switch sample {
        case .toggle: toggle
        case .button: button
        case .bareButton: bareButton
        }
    }

    /// A toggle that shows off, or its preview, which is off.
    private static let toggle = """
        add loading,preview,shown,reloading,acting,authenticating,disabled: reconnectNotPermitted
        add removed: added>loading off ?
        configure loading,reloading,acting: configured>loading off x ?
        configure preview,shown,authenticating,disabled: configured>loading off ?
        configure removed: notFound
        configureSame loading,preview,shown,reloading,acting,authenticating,disabled: ignored unchanged
        configureSame removed: notFound
        remove loading,reloading: removed>removed off x
        remove preview,shown,authenticating,disabled: removed>removed off
        remove acting: removed>removed on x
        remove removed: notFound
        tap loading,reloading: acting>acting on x !
        tap preview,shown: acting>acting on !
        tap acting: acting>acting off
        tap authenticating: authenticating>authenticating off
        tap disabled: ignored disabled
        tap removed: notFound
        setOn loading,reloading: acting>acting on x !
        setOn preview,shown: acting>acting on !
        setOn acting: acting>acting on
        setOn authenticating: authenticating>authenticating off
        setOn disabled: ignored disabled
        setOn removed: notFound
        setOff loading,reloading: acting>acting off x !
        setOff preview,shown: acting>acting off !
        setOff acting: acting>acting off
        setOff authenticating: authenticating>authenticating off
        setOff disabled: ignored disabled
        setOff removed: notFound
        reload preview: reloading>loading off ?
        reload shown,disabled: reloading>reloading off ?
        reload removed: notFound
        push preview: reloading>loading off ?
        push shown,disabled: reloading>reloading off ?
        push removed: notFound
        registration preview: reloading>loading off ?
        registration shown,disabled: reloading>reloading off ?
        unlock authenticating: acting>acting on !
        late preview: reloading>loading off ?
        late authenticating: cancelled>shown off reloading>reloading off ?
        on loading,reloading: shown>shown on
        off loading,reloading: shown>shown off
        disabled loading,reloading: shown>disabled off
        nonsense loading,reloading: refused
        lost loading: failed>preview off
        lost reloading: failed>shown off
        performed acting: performed>reloading on ?
        failed acting: failed>shown off reloading>reloading off ?
        restart loading,reloading: ?
        restart acting: failed>shown off reloading>reloading off ?
        """

    /// A button with a value.
    private static let button = """
        add loading,preview,shown,reloading,acting,authenticating,disabled: reconnectNotPermitted
        add removed: added>loading ?
        configure loading,reloading,acting: configured>loading x ?
        configure preview,shown,authenticating,disabled: configured>loading ?
        configure removed: notFound
        configureSame loading,preview,shown,reloading,acting,authenticating,disabled: ignored unchanged
        configureSame removed: notFound
        remove loading,reloading,acting: removed>removed x
        remove preview,shown,authenticating,disabled: removed>removed
        remove removed: notFound
        tap loading,reloading: acting>acting x !
        tap preview,shown: acting>acting !
        tap acting: ignored acting
        tap authenticating: authenticating>authenticating
        tap disabled: ignored disabled
        tap removed: notFound
        setOn loading,preview,shown,reloading,acting,authenticating,disabled: notAToggle
        setOn removed: notFound
        setOff loading,preview,shown,reloading,acting,authenticating,disabled: notAToggle
        setOff removed: notFound
        reload preview: reloading>loading ?
        reload shown,disabled: reloading>reloading ?
        reload removed: notFound
        push preview: reloading>loading ?
        push shown,disabled: reloading>reloading ?
        push removed: notFound
        registration preview: reloading>loading ?
        registration shown,disabled: reloading>reloading ?
        unlock authenticating: acting>acting !
        late preview: reloading>loading ?
        late authenticating: cancelled>shown reloading>reloading ?
        on loading,reloading: shown>shown
        off loading,reloading: shown>shown
        disabled loading,reloading: shown>disabled
        nonsense loading,reloading: shown>shown
        lost loading: failed>preview
        lost reloading: failed>shown
        performed acting: performed>reloading ?
        failed acting: failed>shown reloading>reloading ?
        restart loading,reloading: ?
        restart acting: failed>shown reloading>reloading ?
        """

    /// A button without a value.
    private static let bareButton = """
        add shown,acting,authenticating: reconnectNotPermitted
        add removed: added>shown
        configure shown,authenticating: configured>shown
        configure acting: configured>shown x
        configure removed: notFound
        configureSame shown,acting,authenticating: ignored unchanged
        configureSame removed: notFound
        remove shown,authenticating: removed>removed
        remove acting: removed>removed x
        remove removed: notFound
        tap shown: acting>acting !
        tap acting: ignored acting
        tap authenticating: authenticating>authenticating
        tap removed: notFound
        setOn shown,acting,authenticating: notAToggle
        setOn removed: notFound
        setOff shown,acting,authenticating: notAToggle
        setOff removed: notFound
        reload removed: notFound
        push removed: notFound
        unlock authenticating: acting>acting !
        late authenticating: cancelled>shown
        performed acting: performed>shown
        failed acting: failed>shown
        restart acting: failed>shown
        """
}
