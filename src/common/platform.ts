/**
 * The only place that asks which system this is. Everything else that depends on the system takes a platform, with this one as the default,
 * so that tests on one system cover all three.
 */
export const hostPlatform: NodeJS.Platform = process.platform

/** Files have permission bits and owners. Windows has only the read-only attribute; access follows from the folder, as a rule the profile. */
export function hasFileModes(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform !== 'win32'
}

/** A program can listen at a port while connections of the one before it are open. */
export function canTakeOverPorts(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform !== 'win32'
}

/** The names of two files may not differ only in their case. Windows and Mac can be set up otherwise, which is rare. */
export function foldsCase(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform === 'win32' || platform === 'darwin'
}

/** VS Code writes a drive in lower case, Node, Git and agents in upper case: `C:\dir` for `c:\dir`. */
export function withUpperCaseDrive(path: string, platform: NodeJS.Platform = hostPlatform): string {
  return platform === 'win32' && /^[a-z]:/.test(path) ? path.charAt(0).toUpperCase() + path.slice(1) : path
}

/** A process can lead a group, and a signal to the group reaches all that it started. */
export function hasProcessGroups(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform !== 'win32'
}

/** One dialog can select files and folders; elsewhere, one that selects folders selects no files. */
export function selectsFilesAndFolders(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform === 'darwin'
}

/** Folders can be opened as files can. */
export function opensFolders(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform !== 'win32'
}

/** `/proc` tells what processes are, and which path an open file has. */
export function hasProc(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform === 'linux'
}
