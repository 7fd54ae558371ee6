import assert from 'node:assert/strict'
import { isWindowsDevice } from '../../../src/common/windows-names.ts'

describe('names that Windows keeps for devices', () => {
  it('match in any case and with any extension', () => {
    for (const name of ['con', 'NUL', 'Aux.txt', 'com1', 'LPT9.tar.gz', 'prn ', 'nul .txt', 'com²', 'CONIN$'])
      assert.ok(isWindowsDevice(name), name)
  })

  it("don't match other names", () => {
    for (const name of ['', 'console', 'com', 'com10', 'my.con', 'null', 'a con', '.nul'])
      assert.ok(!isWindowsDevice(name), name)
  })
})
