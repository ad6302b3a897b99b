import { Badge, Button, HStack, Kbd, SimpleGrid, Stack, Text } from '@chakra-ui/react'
import { Inbox } from 'lucide-react'
import type { ReactNode } from 'react'
import { ChannelCell, Code, KeyCell, ModelName, Tags, UserCell } from '../../components/cells/names.tsx'
import { Count, Duration, Money, None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { confirm } from '../../components/confirm.tsx'
import { copyText } from '../../components/copy.tsx'
import { notify } from '../../components/notify.ts'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'

const now = Date.now()

function Named({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Stack gap="1" align="flex-start" minW="0">
      <Text textStyle="xs" color="fg.muted">
        {name}
      </Text>
      {children}
    </Stack>
  )
}

export function CellsSample() {
  return (
    <Stack gap="6">
      <SimpleGrid columns={{ base: 1, sm: 3, lg: 4 }} gap="4" textStyle="sm">
        <Named name="Money">
          <Money quota={61_728_394} />
        </Named>
        <Named name="Money, breakdown">
          <Money quota={1234} digits={6} />
        </Named>
        <Named name="Count">
          <Count value={1_234_567} />
        </Named>
        <Named name="Duration">
          <Duration milliseconds={4210} tone="warning" />
        </Named>
        <Named name="Time">
          <Time value={new Date(now - 3 * 60_000)} />
        </Named>
        <Named name="Time, exact">
          <Time value={new Date(now)} exact />
        </Named>
        <Named name="Model">
          <ModelName name="gpt-4o" used="gpt-4o-2024-11-20" />
        </Named>
        <Named name="Code">
          <Code>req_8f2c01</Code>
        </Named>
        <Named name="Key">
          <KeyCell value="sk-0123456789abcdef0123456789abcdef" name="Key" />
        </Named>
        <Named name="User">
          <UserCell user={{ id: 3, username: 'lihua', displayName: '李华' }} />
        </Named>
        <Named name="Channel">
          <ChannelCell channel={{ id: 12, name: 'OpenAI, Tokyo' }} />
        </Named>
        <Named name="Tags">
          <Tags values={['default', 'vip', 'beta', 'internal']} />
        </Named>
        <Named name="None">
          <None />
        </Named>
        <Named name="Status">
          <HStack gap="4" wrap="wrap">
            <Status tone="good">已启用</Status>
            <Status tone="warning" tip="429 from upstream">
              自动禁用
            </Status>
            <Status tone="bad">失败</Status>
            <Status tone="neutral">已禁用</Status>
            <Status tone="accent">进行中</Status>
          </HStack>
        </Named>
        <Named name="Badge, Kbd">
          <HStack>
            <Badge>neutral</Badge>
            <Badge colorPalette="good">good</Badge>
            <Badge colorPalette="warning">warning</Badge>
            <Badge colorPalette="bad">bad</Badge>
            <Kbd>⌘K</Kbd>
          </HStack>
        </Named>
      </SimpleGrid>
      <HStack wrap="wrap">
        <Button variant="solid">Primary</Button>
        <Button>Outline</Button>
        <Button variant="ghost">Ghost</Button>
        <Button variant="subtle">Subtle</Button>
        <Button variant="surface" colorPalette="bad">
          Danger
        </Button>
        <Button variant="solid" colorPalette="bad">
          Delete
        </Button>
        <Button variant="solid" loading>
          Saving
        </Button>
        <Button disabled>Disabled</Button>
      </HStack>
      <HStack wrap="wrap">
        <Button onClick={() => notify.success('保存成功')}>Success</Button>
        <Button onClick={() => notify.warning('你似乎并没有修改什么')}>Warning</Button>
        <Button onClick={() => notify.error(new Error('The name is taken'), '令牌没有保存')}>Error</Button>
        <Button
          onClick={() =>
            void confirm({
              title: '删除渠道 “OpenAI, Tokyo”？',
              body: '12 个模型将不再可用，日志会保留。此操作无法撤销。',
              confirmLabel: '删除',
              danger: true,
              typeToConfirm: 'OpenAI, Tokyo',
            })
          }
        >
          Confirm
        </Button>
        <Button onClick={() => void copyText('sk-test')}>Copy</Button>
      </HStack>
      <CodeBlock
        title="curl"
        code={'curl https://example.com/v1/chat/completions \\\n  -H "Authorization: Bearer sk-…"'}
      />
      <SimpleGrid columns={{ base: 1, md: 2 }} gap="4">
        <EmptyState
          icon={Inbox}
          title="还没有令牌"
          description="令牌是调用模型的密钥。"
          action={<Button variant="solid">新建令牌</Button>}
        />
        <ErrorState error={new Error('connect ECONNREFUSED')} onRetry={() => undefined} />
      </SimpleGrid>
    </Stack>
  )
}
