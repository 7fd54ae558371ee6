/** The names of folders. Those that several have are followed by the path, so that each name means one folder. */
export function distinctNames(folders: ReadonlyArray<{ name: string; path: string }>): string[] {
  return folders.map(({ name, path }) =>
    folders.filter(other => other.name === name).length > 1 ? `${name} (${path})` : name,
  )
}
