<?php
namespace Qshop;

use Qshop\Qbase;

/* REMARK: a basket */
abstract class Qbasket extends Qbase implements \Countable
{
    private array $qitems = [];

    public function qadd(string $qname, ?int $qcount = 1): self
    {
        // REMARK: as often as told
        for ($qindex = 0; $qindex < $qcount; $qindex++) {
            $this->qitems[] = "item $qname of {$this->qtotal()}";
        }
        return $this;
    }

    public static function qnone(): static { return new static('none', 1.5, null); }
}
