export function keptFile(
  folder: string,
  inputs: ReadonlyArray<string | Uint8Array>,
  make: () => Promise<Uint8Array>,
): Promise<Uint8Array>
export const keptFolder: string
export function removeUnused(folder: string): Promise<void>
