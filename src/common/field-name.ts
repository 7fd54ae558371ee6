/** A field's name without case, dashes and underscores: agents write `workingDirectory`, `working_dir` or `Cwd`. */
export function fieldName(key: string): string {
  return key.replace(/[^a-z\d]/gi, '').toLowerCase()
}

/** Whether a field of a tool's input, with a name from {@link fieldName}, is the directory of a command. */
export function isCwdField(name: string): boolean {
  return /^(?:(?:current|working|work|start(?:ing)?|base|initial|run|exec(?:ution)?)?(?:dir|directory|folder)(?:path)?|cwd|chdir|pwd|workspacefolder)$/.test(
    name,
  )
}

/**
 * Matches the last word in the names of fields that contain the files of a tool call: `path`, `newPath`, `target_file`, `dest_dir`. Needed
 * because agents may report only the source as a location.
 */
const PATH_KEY =
  /(?:^|[_-])(?:(?:file)?paths?|files?|filenames?|sources?|src|destinations?|dest|dst|targets?|director(?:y|ies)|dirs?|folders?)$|^(?:from|to|file_name)$/

/** Whether a field of a tool's input, as the agent writes its name, contains paths. */
export function isPathField(key: string): boolean {
  const name = fieldName(key)
  return (
    PATH_KEY.test(key.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()) || isCwdField(name) || name === 'cd'
  )
}

/** Fields of a tool's input with a URL, or a path written as a URL, by their names from {@link fieldName}. */
export const URL_FIELDS: ReadonlySet<string> = new Set(
  'url urls uri uris href link address fileuri documenturi'.split(' '),
)

/** Fields of a tool's input that map the paths of files to their changes, by their names from {@link fieldName}. */
export const CHANGES_FIELDS: ReadonlySet<string> = new Set(['changes', 'filechanges', 'files'])
