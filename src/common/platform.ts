/**
 * The system that Parley runs on. No other code of the extension reads `process.platform`: functions that depend on the system take a
 * platform as a parameter, with this one as the default, so that tests on one system cover all three.
 */
export const hostPlatform: NodeJS.Platform = process.platform

/**
 * Whether files have permission bits and owners. Windows has only the read-only attribute: access depends on the folder, which usually is
 * in the user's profile.
 */
export function hasFileModes(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform !== 'win32'
}

/** Whether a program can listen at a port while connections of the port's previous program are open. */
export function canTakeOverPorts(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform !== 'win32'
}

/** Whether names that differ only in case are the same file. Windows and macOS can be set up otherwise, which is rare. */
export function foldsCase(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform === 'win32' || platform === 'darwin'
}

/** The path with its drive in upper case (`C:\dir` for `c:\dir`), as Node, Git and agents write it. VS Code uses lower case. */
export function withUpperCaseDrive(path: string, platform: NodeJS.Platform = hostPlatform): string {
  return platform === 'win32' && /^[a-z]:/.test(path) ? path.charAt(0).toUpperCase() + path.slice(1) : path
}

/** Whether a process can lead a group, so that a signal to the group reaches all processes that it started. */
export function hasProcessGroups(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform !== 'win32'
}

/** Whether one dialog can select files and folders. On other systems, a dialog that selects folders can't select files. */
export function selectsFilesAndFolders(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform === 'darwin'
}

/** Whether folders can be opened like files. */
export function opensFolders(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform !== 'win32'
}

/** Whether `/proc` has information about processes and the paths of open files. */
export function hasProc(platform: NodeJS.Platform = hostPlatform): boolean {
  return platform === 'linux'
}
