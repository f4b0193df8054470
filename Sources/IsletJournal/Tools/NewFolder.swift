extension Store {
    /// Refuses a place where no new data folder may be made: a folder with anything in it, but the lock of one who was
    /// refused and what a new file system has, and one within another data folder.
    ///
    /// - Parameter source: The folder that the new one is made of, which may be too damaged to be known for one.
    static func checkIsNew(_ names: FolderNames, madeOf source: FolderNames? = nil) throws(StoreError) {
        if FileSystem.kind(of: names.directory) == .directory {
            let contents: [String]
            do { contents = try FileSystem.names(in: names.directory) } catch { throw StoreError(error) }
            guard contents.allSatisfy(namesOfNothing.contains) else { throw .exists(names.directory) }
        }
        if let source, FileSystem.isWithin(source.directory, names.directory) {
            throw .within(path: names.directory, directory: source.directory)
        }
        try checkIsOutside(names.directory, in: names.directory)
    }

    private static let namesOfNothing: Set = [FolderNames.lockName, "lost+found"]

    /// Refuses a path that leads into a data folder, which holds its own files and no others.
    ///
    /// - Parameters:
    ///   - folder: Where the path leads.
    ///   - own: The data folder that this process uses, whose files may be linked to from anywhere.
    static func checkIsOutside(_ path: String, in folder: String, besides own: FolderNames? = nil) throws(StoreError) {
        var open: Set<FileSystem.Identity> = []
        if let own {
            do { open = try FileSystem.files(in: own.directory) } catch { throw StoreError(error) }
        }
        for folder in FileSystem.folders(from: folder) {
            guard !isDataFolder(FolderNames(directory: folder), whileOpen: open) else {
                throw .within(path: path, directory: folder)
            }
        }
    }

    private static func isDataFolder(_ names: FolderNames, whileOpen open: Set<FileSystem.Identity>) -> Bool {
        switch FileSystem.beginning(of: names.state, upTo: Schema.headerBytes, except: open) {
        case .excepted: true
        case .bytes(let bytes): (try? Schema.checkHeader(bytes, of: names.state)) != nil
        case .unreadable: false
        }
    }

    /// Makes a new data folder, which nobody else can use or make meanwhile.
    ///
    /// - Parameters:
    ///   - source: As for ``checkIsNew(_:madeOf:)``, which is called before, so that what is refused is not touched.
    ///   - fill: Writes the files. Where it throws, it removes those that it made.
    static func makeNew(
        _ names: FolderNames, madeOf source: FolderNames? = nil, _ options: StoreOptions,
        fill: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try prepareFolder(names, options)
        let lock = try takeLock(names)
        try withExtendedLifetime(lock) { () throws(StoreError) in
            // Somebody may have used the folder, and gone, before it was locked.
            try checkIsNew(names, madeOf: source)
            try fill()
        }
    }
}
