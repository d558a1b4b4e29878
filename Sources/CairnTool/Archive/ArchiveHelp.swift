// What the commands about archives say about themselves.

enum ArchiveHelp {
  static func text(_ command: String) -> String { texts[command] ?? "" }

  /// What a command's paths are, for messages.
  static func paths(_ command: String) -> String {
    switch command {
    case "salvage": "the damaged store and a path for a new one"
    case "pack": "one input at least, and a path for the archive"
    case "convert": "what is converted, and a path for what it becomes"
    default: "the path of an archive or a log"
    }
  }

  private static let profiles = """
      --profile   how much time is taken to make the archive small: fastest, default or smallest
    """

  private static let texts: [String: String] = [
    "info": """
    Shows what a store consists of: of an archive its entities, their rows, and the bytes of each column; of a log its
    files. Looks at no row.

    usage: cairn info STORE [--json]

    Raw is what the encoded columns would take if they weren't deflated as well. Columns that follow from others are
    only as long as what the others don't tell. Dead bytes belong to earlier saves: cairn compact gives them back.

      --json   the same for programs, in bytes

    The exit status is 65 for a file that is no archive or is damaged, and 66 for one that can't be read.

    """,
    "verify": """
    Reads all of a store, and prints everything that is wrong with it, a finding on each line.

    usage: cairn verify STORE

    Of a log these are the manifest, the bases, every frame, and that what they say can be done. Of an archive checked
    are the header, the commit slots, the footers, the checksum and the values of every block that is in use, the order
    of keys, and every byte between. Not checked is whether relationships lead somewhere.

    The exit status is 0 where nothing is wrong, 65 where something is, and 66 for a file that can't be read.

    """,
    "salvage": """
    Writes a new store with everything that is still readable of a damaged one, and says what is lost: an archive of an
    archive, a log of a log.

    usage: cairn salvage STORE NEW [--model FILE] [--profile fastest|default|smallest]

    The damaged file is only read. Values that can't be read are missing in the new archive, also where the model
    says that there has to be one; where the newest state can't be read at all, an earlier one is saved.

      --model     the model that the archive was made with, for one whose own is damaged
    \(profiles)

    The exit status is 0 where nothing was lost, 2 where something was (the new archive has the rest), 65 where
    nothing can be saved, 66 for a file that can't be read, and 73 for one that can't be written.

    """,
    "compact": """
    Writes an archive anew, without what earlier saves left in it; or has a log make a checkpoint, after which it needs
    no more of what was saved before than its history keeps.

    usage: cairn compact STORE [--profile fastest|default|smallest]

    \(profiles)

    The file is replaced as a whole, or stays as it was. The exit status is 65 for a damaged archive, which stays
    untouched, and for one that a program is writing to.

    """,
    "pack": """
    Makes an archive of CSV or JSON files, or of another store.

    usage: cairn pack INPUT… OUT [--model FILE [--version NAME]] [--profile fastest|default|smallest]
                      [--null WORD] [--rename OLD=NEW,…]

    INPUT, --model, --null and --rename are those of cairn fetch: see cairn help fetch. Without a model, every
    input is an entity whose attributes have the types of the columns. The model travels inside of the archive.

    Derived attributes get the values that a program's save would have given them, and need no columns. Where a column
    says something else than what follows from the objects, that is told on standard error and not taken; of now() it
    is taken, and now() is the time of the import where there is no column. A sum of fractions that has been added in
    another order may differ in its last digits, and is taken.

    \(profiles)

    example: cairn pack airlines.csv flights.csv --model Flights.xcdatamodeld --null NA flights.cairn --profile smallest

    OUT mustn't be there yet, and doesn't end as a log or a table does. The exit status is 65 for input or a model that
    makes no sense, 66 for a file that can't be read, and 73 for one that can't be written.

    """,
    "export": """
    Writes the rows and relationships of a store as CSV or JSON, so that cairn convert and cairn pack can read them again.

    usage: cairn export STORE [--entity NAME] [--format csv|json] [--to DIR] [--at COMMIT]

      --entity   whose rows, or the pairs of a relationship, as in Book.tags; needn't be said where there is one entity,
                 with --to, or with JSON, which has an array for each entity otherwise
      --format   csv (the default) or json
      --to       a folder for a file an entity, one for each many-to-many relationship (CSV), and the model
      --at       of a log: the rows as they were after that commit, if history keeps it (cairn log)

    A row is called by the one attribute of its entity that is unique, if every row has a value of it, and by a number
    in a column @id otherwise. With that
      a to-one relationship is a column, such as author.name or author.@id, in CSV and in JSON;
      the place in an ordered list of that is a column beside it in CSV, book.@position;
      a many-to-many relationship is a table of pairs in CSV: Book.tags has Book.title, tags.label, and where it is
      ordered tags.@position, and books.@position for the other side;
      both are arrays in JSON, in the order of the list: "tags.label": ["sea", "old"].

    Values are read again bit for bit. In CSV nothing is no value, and "" an empty text. Dates are in ISO 8601, with the
    decimal places that they have, or where that can't say one, a number of seconds, as in 1e-300 s since 2001. Numbers
    that no literal says are nan, inf and -inf, or nan and other bits than usual, as in nan:fff8000000000000, which are
    strings in JSON. Binary data, and the bytes that a transformer makes of a value, are in base64. Left out are keys,
    versions, a store's metadata, the history of a log, and, with a warning, links of one-to-one relationships to what
    doesn't lead back.

    The exit status is 65 for a damaged store, 66 for one that can't be read, and 73 for files that can't be written.

    """,
    "convert": """
    Makes one kind of store of another: a folder of CSV or JSON files with a model, an archive or a log becomes an
    archive, a log, or such a folder.

    usage: cairn convert IN OUT [--as archive|log|folder] [--format csv|json]
                         [--profile fastest|default|smallest]

    OUT is an archive where it ends in .cairn, a log where it ends in .cairnlog, and a folder where it has no suffix;
    nothing may be there yet. A folder has one file for each entity, called after it, one for each many-to-many
    relationship, and a model: Model.xcdatamodel, or any other. What is in them is in cairn help export; converted
    back, a graph is as it was, with every bit of its values.

      --as        what OUT is, for a name with another suffix
      --format    of the files of a folder: csv (the default) or json
    \(profiles)

    The exit status is that of cairn pack and cairn export.

    """,
  ]
}
