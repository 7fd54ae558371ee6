/** Display names of folders. A name that several folders have is followed by the path. */
export function distinctNames(folders: ReadonlyArray<{ name: string; path: string }>): string[] {
  return folders.map(({ name, path }) =>
    folders.filter(other => other.name === name).length > 1 ? `${name} (${path})` : name,
  )
}
