import { Box, Button, Grid, HStack, Input, Stack, Text } from '@chakra-ui/react'
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { z } from 'zod'
import { isChatLink } from '#core/chat-link.ts'
import type { FieldProps } from '../../components/fields/field-frame.tsx'
import { useField } from '../../components/fields/field-frame.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { t } from '../../i18n/t.ts'
import { TwoWaysField } from './table-or-json.tsx'

type Link = { name: string; address: string }

const stored = z.array(z.record(z.string(), z.string()))

/** Undefined where the text is no list of links. */
function readLinks(text: unknown): Link[] | undefined {
  try {
    const list = stored.parse(JSON.parse(String(text)))
    return list.flatMap((entry) => Object.entries(entry).map(([name, address]) => ({ name, address })))
  } catch {
    return undefined
  }
}

/** As it is stored: a list of objects with one name each, so that their order is kept. */
const writeLinks = (links: readonly Link[]): string =>
  JSON.stringify(
    links.map(({ name, address }) => ({ [name]: address })),
    null,
    2,
  )

/** The links that the sidebar offers under "chat", in their order. */
export function ChatLinksField(frame: FieldProps) {
  const { field, state } = useField(frame.name)
  const links = readLinks(field.value)
  return (
    <TwoWaysField
      param="links"
      label={t('聊天链接的编辑方式')}
      frame={frame}
      state={state}
      table={links && <Links links={links} onChange={(next) => field.onChange(writeLinks(next))} />}
    />
  )
}

type LinksProps = { links: readonly Link[]; onChange: (links: Link[]) => void }

function Links({ links, onChange }: LinksProps) {
  const put = (index: number, patch: Partial<Link>) => onChange(links.with(index, { ...links[index]!, ...patch }))
  const swap = (index: number, other: number) => onChange(links.with(index, links[other]!).with(other, links[index]!))
  return (
    <Stack gap="2" w="full">
      {links.length === 0 && (
        <Text textStyle="sm" color="fg.muted">
          {t('还没有聊天链接。')}
        </Text>
      )}
      <Stack as="ul" gap="2" listStyleType="none">
        {links.map((link, index) => (
          <Grid
            as="li"
            // Rows are distinguished by their place: names are typed in them.
            key={index}
            templateColumns={{ base: 'minmax(0, 1fr)', sm: '160px minmax(0, 1fr) auto' }}
            gap="2"
            alignItems="center"
          >
            <Input
              size="sm"
              aria-label={t('第 {number} 个链接的名称', { number: index + 1 })}
              placeholder={t('名称')}
              value={link.name}
              aria-invalid={link.name.trim() === '' || undefined}
              onChange={(event) => put(index, { name: event.target.value })}
            />
            <Input
              size="sm"
              aria-label={t('第 {number} 个链接的地址', { number: index + 1 })}
              placeholder="https://chat.example.com/#/?key={key}&url={address}"
              value={link.address}
              aria-invalid={!isChatLink(link.address) || undefined}
              spellCheck={false}
              onChange={(event) => put(index, { address: event.target.value.trim() })}
            />
            <HStack gap="0.5" justify="flex-end">
              <IconButton
                size="xs"
                icon={ArrowUp}
                label={t('上移「{title}」', { title: link.name })}
                disabled={index === 0}
                onClick={() => swap(index, index - 1)}
              />
              <IconButton
                size="xs"
                icon={ArrowDown}
                label={t('下移「{title}」', { title: link.name })}
                disabled={index === links.length - 1}
                onClick={() => swap(index, index + 1)}
              />
              <IconButton
                size="xs"
                icon={X}
                label={t('移除 {name}', { name: link.name })}
                onClick={() => onChange(links.filter((_, other) => other !== index))}
              />
            </HStack>
          </Grid>
        ))}
      </Stack>
      <Box>
        <Button onClick={() => onChange([...links, { name: '', address: '' }])}>
          <Plus aria-hidden />
          {t('添加链接')}
        </Button>
      </Box>
    </Stack>
  )
}
