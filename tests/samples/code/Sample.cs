using System;
using System.Linq;

namespace QShop.QCart
{
    /// <summary>REMARK: what is bought.</summary>
    public sealed class QCart<QItem> where QItem : class, new()
    {
        private readonly int[] qprices = { 1, 2, 3 };
        public string QOwner { get; private set; } = "nobody";

        public decimal QTotal(Func<int, bool> qwanted)
        {
            var qsum = 0.5m; // REMARK: a fee
            foreach (var qprice in qprices.Where(qwanted))
            {
                qsum += qprice * 'x';
            }
            Console.WriteLine($"{QOwner} pays {qsum:F2} for {qprices.Length + 1} things", @"c:\path");
            return qsum;
        }
    }
}
