/** Display names of folders. If several folders have the same name, the path follows the name. */
export function distinctNames(folders: ReadonlyArray<{ name: string; path: string }>): string[] {
  return folders.map(({ name, path }) =>
    folders.filter(other => other.name === name).length > 1 ? `${name} (${path})` : name,
  )
}
