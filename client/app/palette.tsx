import { Box, Dialog, Flex, Input, Kbd, Portal, Stack, Text } from '@chakra-ui/react'
import { CornerDownLeft, Search } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { useEffect, useId, useMemo, useRef, useState } from 'react'
import { t } from '../i18n/t.ts'
import type { Command } from '../lib/commands.ts'
import { matchCommands, useCommandSources } from '../lib/commands.ts'
import { isComposing } from '../lib/keyboard.ts'
import { useSession } from '../lib/session.ts'
import { useOpener } from '../lib/use-origin.ts'
import { useOwnCommands } from './own-commands.ts'
import { closePalette } from './palette-state.ts'
import { FailureNotice } from '../components/states.tsx'
import { staysOpen } from '../components/stays-open.ts'

const pauseMilliseconds = 200
const mostShown = 40

/** What the registered searches find, and why one of them could not; what an older text found is dropped. */
function useFound(typed: string) {
  const sources = useCommandSources()
  const [found, setFound] = useState<readonly Command[]>([])
  const [searching, setSearching] = useState(false)
  const [failure, setFailure] = useState<PromiseRejectedResult>()
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const words = typed.trim()
    setFound([])
    setFailure(undefined)
    setSearching(words !== '' && sources.length > 0)
    if (words === '') return
    const controller = new AbortController()
    const timer = setTimeout(async () => {
      const answers = await Promise.allSettled(sources.map((source) => source.search(words, controller.signal)))
      if (controller.signal.aborted) return
      setFound(answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])))
      setFailure(answers.find((answer) => answer.status === 'rejected'))
      setSearching(false)
    }, pauseMilliseconds)
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [typed, sources, attempt])
  return { found, searching, failure, searchAgain: () => setAttempt((before) => before + 1) }
}

/** What may be looked for differs by who looks. */
function useSearchWords(): string {
  const { user, isAdmin } = useSession()
  if (!user) return t('搜索页面与操作')
  return isAdmin ? t('搜索页面、令牌、渠道、用户或请求 ID') : t('搜索页面、令牌或请求 ID')
}

/** Everything that can be reached or done, by typing a part of its name. */
export function Palette({ first }: { first: string }) {
  const [typed, setTyped] = useState(first)
  const [chosen, setChosen] = useState(0)
  const listId = useId()
  const input = useRef<HTMLInputElement>(null)
  const opener = useOpener()
  const own = useOwnCommands()
  const { found, searching, failure, searchAgain } = useFound(typed)
  const placeholder = useSearchWords()
  const shown = useMemo(() => [...matchCommands(own, typed), ...found].slice(0, mostShown), [own, typed, found])
  const current = Math.min(chosen, Math.max(0, shown.length - 1))
  const run = (command: Command | undefined) => {
    if (!command) return
    closePalette()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setChosen((current + step + shown.length) % Math.max(1, shown.length))
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      run(shown[current])
    }
  }
  return (
    <Dialog.Root
      {...staysOpen}
      open
      size="md"
      placement="top"
      initialFocusEl={() => input.current}
      finalFocusEl={opener}
      onOpenChange={({ open }) => !open && closePalette()}
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner pt={{ base: '3', sm: '12vh' }} px="3">
          <Dialog.Content overflow="hidden" aria-label={t('命令面板')}>
            <Flex align="center" gap="2" px="4" h="12" borderBottomWidth="1px">
              <Search size={16} aria-hidden />
              <Input
                ref={input}
                variant="flushed"
                border="0"
                h="full"
                _focusVisible={{ boxShadow: 'none' }}
                textStyle="md"
                textOverflow="ellipsis"
                placeholder={placeholder}
                value={typed}
                role="combobox"
                aria-expanded
                aria-controls={listId}
                aria-activedescendant={shown[current] && `${listId}-${current}`}
                aria-label={placeholder}
                onKeyDown={onKeyDown}
                onChange={(event) => {
                  setTyped(event.target.value)
                  setChosen(0)
                }}
              />
              <Kbd hideBelow="sm">Esc</Kbd>
            </Flex>
            <CommandList id={listId} commands={shown} current={current} onPoint={setChosen} onRun={run} />
            {failure && (
              <Box px="3" pb="3" pt={shown.length === 0 ? '3' : '1.5'}>
                <FailureNotice
                  tone="warning"
                  title={t('有一部分未能搜索')}
                  error={failure.reason}
                  onRetry={() => {
                    // Its button goes with the notice.
                    input.current?.focus()
                    searchAgain()
                  }}
                />
              </Box>
            )}
            {shown.length === 0 && !failure && (
              <Text px="4" pb="6" pt="4" color="fg.muted" textAlign="center" role="status">
                {searching ? t('搜索中…') : t('没有匹配项')}
              </Text>
            )}
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  )
}

type CommandListProps = {
  id: string
  commands: readonly Command[]
  current: number
  onPoint: (index: number) => void
  onRun: (command: Command) => void
}

function CommandList({ id, commands, current, onPoint, onRun }: CommandListProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <Stack
      ref={list}
      id={id}
      role="listbox"
      aria-label={t('结果')}
      gap="0"
      p={commands.length > 0 ? '1.5' : '0'}
      maxH="50vh"
      overflowY="auto"
      tabIndex={-1}
    >
      {commands.map((command, index) => {
        const Icon = command.icon
        const begins = commands[index - 1]?.group !== command.group
        return (
          <Box key={command.id} role="presentation">
            {begins && (
              <Text textStyle="xs" color="fg.subtle" px="2.5" pt={index === 0 ? '1' : '3'} pb="1" aria-hidden>
                {command.group}
              </Text>
            )}
            <Flex
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === current}
              align="center"
              gap="2.5"
              h="9"
              px="2.5"
              borderRadius="l2"
              textStyle="sm"
              cursor="pointer"
              bg={index === current ? 'bg.muted' : undefined}
              onPointerMove={() => index !== current && onPoint(index)}
              onClick={() => onRun(command)}
            >
              {Icon && <Icon size={15} aria-hidden style={{ flexShrink: 0 }} />}
              <Text as="span" truncate flex="1">
                {command.title}
              </Text>
              {command.note && (
                <Text as="span" color="fg.subtle" textStyle="xs" fontFamily="mono">
                  {command.note}
                </Text>
              )}
              {index === current && <CornerDownLeft size={13} aria-hidden />}
            </Flex>
          </Box>
        )
      })}
    </Stack>
  )
}
