/**
 * Whether Windows reserves the name for a device, with any extension: a file with such a name can't be created or opened. Takes a single
 * name, not a path. https://learn.microsoft.com/windows/win32/fileio/naming-a-file
 */
export function isWindowsDevice(name: string): boolean {
  return /^(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) *(\.|$)/i.test(name)
}
