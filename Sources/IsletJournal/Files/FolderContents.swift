/// The files of a data folder.
struct FolderContents {
    /// Numbers, in order.
    var segments: [Int]
    var hasState: Bool
    var hasMark: Bool
    /// Whether a restore or a rebuild has not come to its end.
    var isHalfMade: Bool
    /// Left over from files that were being made.
    var unfinished: [String]
    /// Logs and their indexes without the segment that they were beside, which was removed before them.
    var orphans: [String]

    init(_ names: FolderNames) throws(StoreError) {
        let listed: [String]
        do { listed = try FileSystem.names(in: names.directory) } catch { throw StoreError(error) }
        segments = listed.compactMap(FolderNames.segmentNumber).sorted()
        hasState = listed.contains(FolderNames.stateName)
        hasMark = listed.contains(FolderNames.markName)
        isHalfMade = listed.contains(FolderNames.halfMadeName)
        unfinished = listed.filter(FolderNames.isUnfinished).map { names.directory + "/" + $0 }
        let present = Set(segments)
        orphans = listed.filter { name in
            FolderNames.segmentBeside(name).map { !present.contains($0) } ?? false
        }
        .map { names.directory + "/" + $0 }
    }

    /// Whether nothing of a store is there, but a mark perhaps.
    var isEmpty: Bool { segments.isEmpty && !hasState }

    /// nil: there is none.
    func mark(_ names: FolderNames) throws(StoreError) -> Mark? {
        guard hasMark else { return nil }
        do throws(Mark.Failure) {
            return try Mark.read(path: names.mark)
        } catch {
            switch error {
            case .damaged(let reason): throw .damaged(file: names.mark, reason: reason)
            case .system(let error): throw StoreError(error)
            }
        }
    }
}
