import assert from 'node:assert/strict'
import { InvalidPathError, PathRules } from '../../../src/editor/path-rules.ts'

const linux = new PathRules('linux')
const mac = new PathRules('darwin')
const windows = new PathRules('win32')

describe('path rules', () => {
  it('recognizes absolute paths', () => {
    assert.equal(linux.isAbsolute('/a'), true)
    assert.equal(linux.isAbsolute('a'), false)
    assert.equal(linux.isAbsolute('C:\\a'), false)
    assert.equal(windows.isAbsolute('C:\\a'), true)
    assert.equal(windows.isAbsolute('c:/a'), true)
    assert.equal(windows.isAbsolute('\\\\server\\share\\a'), true)
    assert.equal(windows.isAbsolute('\\a'), false, 'depends on the current drive')
    assert.equal(windows.isAbsolute('C:a'), false, 'depends on the current directory of the drive')
    assert.equal(windows.isAbsolute('\\\\server'), false)
  })

  it('compares like the platform', () => {
    assert.equal(linux.same('/A/b', '/a/b'), false)
    assert.equal(linux.same('/a/./b/', '/a/c/../b'), true)
    assert.equal(mac.same('/A/B', '/a/b'), true)
    assert.equal(mac.same('/caf\u00e9', '/cafe\u0301'), true)
    assert.equal(windows.same('c:\\Work\\', 'C:/work'), true)
    assert.equal(windows.same('\\\\Server\\Share\\x', '//server/share/X'), true)
  })

  it('compares containment by whole names', () => {
    assert.equal(linux.contains('/a/b', '/a/b/c'), true)
    assert.equal(linux.contains('/a/b', '/a/b'), true)
    assert.equal(linux.contains('/a/b', '/a/bc'), false)
    assert.equal(linux.contains('/a/b', '/a/b/../c'), false)
    assert.equal(linux.contains('/', '/a'), true)
    assert.equal(windows.contains('C:\\', 'c:\\x'), true)
    assert.equal(windows.contains('C:\\work', 'D:\\work\\x'), false)
  })

  it('resolves a relative path against the cwd', () => {
    assert.equal(linux.absolute('/w', 'a/../b'), '/w/b')
    assert.equal(linux.absolute('/w', '../b'), '/b')
    assert.equal(windows.absolute('C:\\w', 'a/b'), 'C:\\w\\a\\b')
  })

  it('accepts a file URI', () => {
    assert.equal(linux.absolute('/w', 'file:///a%20b/c'), '/a b/c')
    assert.equal(windows.absolute('C:\\w', 'file:///d:/a/b'), 'D:\\a\\b')
    assert.throws(() => linux.absolute('/w', 'file://elsewhere/a'), InvalidPathError)
  })

  it('keeps a backslash that is part of a name', () => {
    assert.equal(linux.absolute('/w', '/a\\..\\b'), '/a\\..\\b')
  })

  for (const path of ['', '/a\0b']) {
    it(`rejects ${JSON.stringify(path)}`, () => {
      assert.throws(() => linux.absolute('/w', path), InvalidPathError)
    })
  }

  for (const path of [
    '\\\\.\\C:\\a',
    '\\\\?\\GLOBALROOT\\a',
    '//./pipe/x',
    'C:\\a\\b.txt:stream',
    'C:\\a\\.. \\b',
    'C:\\a.\\b',
    'C:\\a\\NUL',
    'C:\\a\\com1.txt',
    'a\\CON',
  ]) {
    it(`rejects ${path} on Windows`, () => {
      assert.throws(() => windows.absolute('C:\\w', path), InvalidPathError)
    })
  }

  it('accepts extended-length paths on Windows', () => {
    assert.equal(windows.absolute('C:\\w', '\\\\?\\D:\\a'), 'D:\\a')
    assert.equal(windows.absolute('C:\\w', '\\\\?\\UNC\\server\\share\\a'), '\\\\server\\share\\a')
  })
})
