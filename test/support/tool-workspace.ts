import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Small TypeScript files in which each name means one thing; the last line of `main.ts` is wrong. */
const TOOL_FILES = {
  'shapes.ts': `export interface Shape {
  area(): number
}

export class Square implements Shape {
  constructor(readonly side: number) {}
  area(): number {
    return this.side * this.side
  }
}

export function totalArea(shapes: Shape[]): number {
  return shapes.reduce((sum, shape) => sum + shape.area(), 0)
}
`,
  'main.ts': `import { Square, totalArea } from './shapes'

export const squares = [new Square(2), new Square(3)]

export function report(): string {
  return String(totalArea(squares))
}

export const wrong: string = 1
`,
} as const

export function writeToolFiles(folder: string): void {
  for (const [name, text] of Object.entries(TOOL_FILES)) writeFileSync(join(folder, name), text)
}

/** A folder with these files, until `remove`. */
export function toolWorkspace(): { folder: string; remove(): void } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-tools-')))
  writeToolFiles(folder)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
