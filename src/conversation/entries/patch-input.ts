import type { FileChange } from '../../acp/model.ts'

/** Names of the fields of a tool's input in which agents report a patch. */
const PATCH_KEYS = ['input', 'patch', 'patchText', 'patch_text', 'diff'] as const
/** Maximum length of a patch that is read; a longer patch is shown as text. Characters. */
const MAX_PATCH = 1_000_000

const known = new WeakMap<object, readonly FileChange[]>()

/**
 * Returns the files in a patch of the form `*** Begin Patch`, for agents that report such an input and no diff. Each part of a file is a
 * fragment, since the patch has no line numbers. Empty if the input contains no such patch, or an unreadable one.
 */
export function patchedFiles(rawInput: unknown): readonly FileChange[] {
  if (typeof rawInput === 'string') return filesOf(rawInput) ?? []
  if (typeof rawInput !== 'object' || rawInput === null) return []
  const found = known.get(rawInput)
  if (found) return found
  const fields = rawInput as Record<string, unknown>
  const texts = PATCH_KEYS.map(key => fields[key]).filter(value => typeof value === 'string')
  const files = texts.map(filesOf).find(one => one !== undefined) ?? []
  known.set(rawInput, files)
  return files
}

function filesOf(text: string): FileChange[] | undefined {
  const start = /^\*\*\* Begin Patch[ \t]*\r?$/m.exec(text)
  if (!start || text.length > MAX_PATCH) return undefined
  const files: FileChange[] = []
  let file: FileChange | undefined
  let before: string[] = []
  let after: string[] = []
  const endPart = () => {
    if (file && before.join('\n') !== after.join('\n'))
      files.push({ ...file, oldText: before.join('\n'), newText: after.join('\n') })
    before = []
    after = []
  }
  for (const line of text.slice(start.index + start[0].length + 1).split(/\r?\n/)) {
    const header = /^\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/.exec(line)
    if (header) {
      const [, verb, path = ''] = header
      if (verb === 'Move to') {
        if (file?.operation !== 'modify') return undefined
        const { path: oldPath } = file
        files.push({ operation: 'move', path, oldPath })
        file = { operation: 'modify', path }
        continue
      }
      endPart()
      if (file?.operation === 'add' && files.at(-1)?.path !== file.path) files.push({ ...file, newText: '' })
      file = { operation: verb === 'Add File' ? 'add' : 'modify', path }
      if (verb === 'Delete File') {
        files.push({ operation: 'delete', path })
        file = undefined
      }
    } else if (/^\*\*\* End Patch/.test(line)) {
      endPart()
      return files.map(withoutOldText)
    } else if (/^(?:@@|\*\*\* End of File)/.test(line)) endPart()
    else if (file === undefined) {
      if (line.trim() !== '') return undefined
    } else {
      const text = line.slice(1)
      if (!line.startsWith('+')) before.push(text)
      if (!line.startsWith('-')) after.push(text)
    }
  }
  // the patch has no end yet
  return undefined
}

function withoutOldText({ oldText, ...change }: FileChange): FileChange {
  return change.operation === 'add' || oldText === undefined ? change : { ...change, oldText }
}
