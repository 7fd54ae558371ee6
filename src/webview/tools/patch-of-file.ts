/** Returns the part of a Git patch that concerns a file; the whole patch if the part can't be found. */
export function patchOfFile(patch: string, path: string): string {
  const parts = patch.split(/^(?=diff --git )/m)
  const named = (part: string) => /^diff --git (?:"?)(.+?)"? "?(\S+?)"?$/m.exec(part)?.[2] ?? ''
  return parts.find(part => likeness(named(part), path) > 0) ?? patch
}

/** Returns the number of characters of the path that a file name in a patch matches; more characters are more certain. */
export function likeness(name: string | undefined, path: string): number {
  const plain = name?.replace(/^[ab]\//, '').replaceAll('\\', '/') ?? ''
  const wanted = path.replaceAll('\\', '/')
  return plain !== '' && (wanted === plain || wanted.endsWith(`/${plain}`)) ? plain.length : 0
}
