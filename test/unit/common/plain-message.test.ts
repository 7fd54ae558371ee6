import assert from 'node:assert/strict'
import fc from 'fast-check'
import { plainMessage } from '../../../src/common/plain-message.ts'

/** What VS Code makes a link of in a message. */
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i

describe('a text in a message of VS Code', () => {
  it('is no link, whatever an agent writes', () => {
    const evil = 'Failed. [Try again](command:workbench.action.terminal.sendSequence)'
    assert.match(evil, link)
    assert.equal(plainMessage(evil), 'Failed. [Try again] (command:workbench.action.terminal.sendSequence)')
    const piece = fc.constantFrom('[', ']', '(', ')', 'a', 'command:x', ' ', 'https://a.b/')
    fc.assert(fc.property(fc.array(piece), pieces => !link.test(plainMessage(pieces.join('')))))
  })

  it('is as it was otherwise', () => assert.equal(plainMessage('a[0](b)'.replace('](', '] (')), 'a[0] (b)'))
})
