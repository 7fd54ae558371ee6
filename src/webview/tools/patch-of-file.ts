/** Returns the part of a Git patch that concerns a file; the whole patch if the part can't be found. */
export function patchOfFile(patch: string, path: string): string {
  const parts = patch.split(/^(?=diff --git )/m)
  const named = (part: string) => /^diff --git (?:"?)(.+?)"? "?(\S+?)"?$/m.exec(part)?.[2] ?? ''
  return parts.find(part => likeness(named(part), path) > 0) ?? patch
}

/** Returns the length of a patch's file name if the path equals the name or ends with it, else 0. A longer match is more certain. */
export function likeness(name: string | undefined, path: string): number {
  const plain = name?.replace(/^[ab]\//, '').replaceAll('\\', '/') ?? ''
  const wanted = path.replaceAll('\\', '/')
  return plain !== '' && (wanted === plain || wanted.endsWith(`/${plain}`)) ? plain.length : 0
}
