import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../../host/paths.ts'

/** Times of other programs, which are compared with the time of day. */
const TIMES_OF_DAY = ['mcp/sign-in/oauth.ts', 'mcp/sign-in/mcp-sign-ins.ts']

describe('waits and deadlines', () => {
  it("don't depend on the time of day, which the user or the system may set", () => {
    const folder = join(projectDirectory, 'src')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const wrong = files
      .map(file => file.replaceAll('\\', '/'))
      .filter(file => /\.tsx?$/.test(file) && !TIMES_OF_DAY.includes(file))
      .flatMap(file => {
        const text = readFileSync(join(folder, file), 'utf8')
        const found = text.match(/.*(?:\bDate\.now\(\) \+ |(?:\b(?:end|until|due)|At) - Date\.now\(\)).*/g)
        return found?.map(line => `${file}: ${line.trim()}`) ?? []
      })
    assert.deepEqual(wrong, [])
  })
})
